/** Caches one result until its key changes: cdk8s validates the whole app once for each chart. */
export class Memo<Result> {
  private last?: { readonly key: string | number; readonly result: Result };

  get(key: string | number, compute: () => Result): Result {
    if (this.last?.key !== key) this.last = { key, result: compute() };
    return this.last.result;
  }
}

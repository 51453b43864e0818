/** Observes the allocations of a parser during one input. */
export interface Guard {
  /** Largest single buffer that was requested, in bytes. */
  largest(): number;
  [Symbol.dispose](): void;
}

/** No machine of ours has more memory: the request fails at once, and the parser must handle that or not request it. */
const REFUSED = 512 * 1024 * 1024;

const counted = ['alloc', 'allocUnsafe', 'allocUnsafeSlow'] as const;

export function guard(): Guard {
  let largest = 0;
  const note = (bytes: unknown) => {
    if (typeof bytes !== 'number') return;
    largest = Math.max(largest, bytes);
    if (bytes > REFUSED) throw new RangeError(`Array buffer allocation failed: ${bytes} bytes`);
  };
  const before = counted.map((name) => [name, Buffer[name]] as const);
  for (const [name, make] of before) {
    Object.assign(Buffer, {
      [name]: (size: number, ...more: []) => {
        note(size);
        return make.call(Buffer, size, ...more);
      },
    });
  }
  const { Uint8Array: Plain } = globalThis;
  globalThis.Uint8Array = new Proxy(Plain, {
    construct(target, args: [number], newTarget) {
      note(args[0]);
      return Reflect.construct(target, args, newTarget === globalThis.Uint8Array ? target : newTarget);
    },
  });
  return {
    largest: () => largest,
    [Symbol.dispose]() {
      for (const [name, make] of before) Object.assign(Buffer, { [name]: make });
      globalThis.Uint8Array = Plain;
    },
  };
}

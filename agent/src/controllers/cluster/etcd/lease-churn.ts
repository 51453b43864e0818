/** How many pairs are under way at once: raft takes them in batches, and few leave room for what clients write. */
const workers = 8;

/** `pairs` times grant and revoke: two raft entries each. The first failure ends it; what was granted by then expires. */
export async function leaseChurn(pairs: number, pair: () => Promise<void>): Promise<void> {
  let left = pairs;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      await pair().catch((error) => {
        left = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, pairs) }, worker));
}

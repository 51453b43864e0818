/** What the system answered: `ENOENT`, `EROFS`, …; empty when it was something else. */
export const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

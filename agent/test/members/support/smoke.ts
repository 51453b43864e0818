/** SMOKE=1: what finds most in five minutes. */
export const smoke = process.env.SMOKE === '1';

export const some = <T>(all: readonly T[], enough: readonly T[]): readonly T[] => (smoke ? enough : all);

/** SMOKE=1 selects the tests that find most in five minutes. */
export const smoke = process.env.SMOKE === '1';

export const some = <T>(all: readonly T[], enough: readonly T[]): readonly T[] => (smoke ? enough : all);

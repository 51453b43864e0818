/** A member, selected when the fault happens. */
export const roles = ['the leader', 'a follower', 'member 0', 'member 1', 'member 2'] as const;

export type Role = (typeof roles)[number];

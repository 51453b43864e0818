/** The ConfigMap with the record of a cluster. */
export const recordName = (cluster: string): string => `${cluster}-record`;

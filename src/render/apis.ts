import { bitnami } from './bitnami/values';
import { coreos } from './coreos/coreos';
import { own } from './own/own';
import type { Api } from './plan';
import { ydzs } from './ydzs/ydzs';

/** The APIs whose objects can be rendered. */
export const apis: readonly Api[] = [own, coreos, ydzs, bitnami];

export const apiWith = (apiVersion: string): Api | undefined => apis.find((api) => api.apiVersion === apiVersion);

import type { Fault } from '../fault';
import { allPodsDeleted } from './all-pods-deleted';
import { apiServerStopped } from './api-server-stopped';
import { backup } from './backup';
import { containerKilled } from './container-killed';
import { drained } from './drained';
import { noSpace } from './no-space';
import { nodeCut } from './node-cut';
import { nodeOff } from './node-off';
import { passwordLost } from './password-lost';
import { podDeleted } from './pod-deleted';
import { podKilled } from './pod-killed';
import { quorumLost } from './quorum-lost';
import { reconcilerHandsOver } from './reconciler-hands-over';
import { reconcilerKilled } from './reconciler-killed';
import { resourceDeleted } from './resource-deleted';
import { restored } from './restored';
import { scaled } from './scaled';
import { upgraded } from './upgraded';
import { volumeLost } from './volume-lost';

/** A kind of fault, and when it is possible. */
export interface Kind {
  readonly name: string;
  readonly fault: Fault;
  /** Typical time until the cluster has recovered. */
  readonly seconds: number;
  /** Number of members, of three, that cannot serve at the same time. 3 means that it breaks the quorum on purpose. */
  readonly takes: 0 | 1 | 3;
  /** Changes the manifests. */
  readonly applies?: boolean;
  readonly needsQuorum?: boolean;
  readonly needsNodes?: boolean;
  /** Never together with another fault. */
  readonly alone?: boolean;
  readonly notBeside?: readonly string[];
  /** Quick enough for a smoke test. */
  readonly quick?: boolean;
  /** Maximum number in one plan. */
  readonly atMost?: number;
}

export const kinds: readonly Kind[] = [
  { name: 'pod-deleted', fault: podDeleted, seconds: 35, takes: 1, quick: true },
  { name: 'pod-killed', fault: podKilled, seconds: 35, takes: 1 },
  { name: 'all-pods-deleted', fault: allPodsDeleted, seconds: 60, takes: 3 },
  { name: 'volume-lost', fault: volumeLost, seconds: 60, takes: 1 },
  { name: 'quorum-lost', fault: quorumLost, seconds: 220, takes: 3, applies: true },
  { name: 'scaled', fault: scaled, seconds: 120, takes: 0, applies: true, needsQuorum: true },
  { name: 'upgraded', fault: upgraded, seconds: 110, takes: 1, applies: true, needsQuorum: true, atMost: 2 },
  { name: 'no-space', fault: noSpace, seconds: 150, takes: 3 },
  { name: 'restored', fault: restored, seconds: 140, takes: 3, applies: true },
  { name: 'backup', fault: backup, seconds: 25, takes: 0, needsQuorum: true, quick: true },
  { name: 'resource-deleted', fault: resourceDeleted, seconds: 20, takes: 0, applies: true },
  { name: 'password-lost', fault: passwordLost, seconds: 40, takes: 0, needsQuorum: true },
  { name: 'reconciler-killed', fault: reconcilerKilled, seconds: 25, takes: 0, quick: true },
  { name: 'reconciler-hands-over', fault: reconcilerHandsOver, seconds: 45, takes: 0, applies: true },
  { name: 'drained', fault: drained, seconds: 50, takes: 1, needsQuorum: true },
  { name: 'container-killed', fault: containerKilled, seconds: 30, takes: 1, needsNodes: true },
  { name: 'node-off', fault: nodeOff, seconds: 110, takes: 1, needsNodes: true, notBeside: ['scaled'] },
  { name: 'node-cut', fault: nodeCut, seconds: 80, takes: 1, needsNodes: true, notBeside: ['scaled'] },
  { name: 'api-server-stopped', fault: apiServerStopped, seconds: 60, takes: 0, needsNodes: true, alone: true },
];

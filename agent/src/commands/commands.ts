import type { Command } from './cli/command.ts';
import type { CommandName } from './cli/program.ts';

/** Where each command is, loaded when it runs. */
export const commands: Record<CommandName, () => Promise<{ run: Command }>> = {
  backup: () => import('./backup.ts'),
  list: () => import('./list.ts'),
  show: () => import('./show.ts'),
  verify: () => import('./verify.ts'),
  prune: () => import('./prune.ts'),
  copy: () => import('./copy.ts'),
  check: () => import('./check.ts'),
  status: () => import('./status.ts'),
  pin: () => import('./pin.ts'),
  unpin: () => import('./unpin.ts'),
  adopt: () => import('./adopt.ts'),
  'restore fetch': () => import('./restore/restore-fetch.ts'),
  'restore extra': () => import('./restore/restore-extra.ts'),
  'restore data-dir': () => import('./restore/restore-data-dir.ts'),
  'restore serve': () => import('./pods/restore-serve.ts'),
  'restore control-plane': () => import('./restore/restore-control-plane.ts'),
  salvage: () => import('./pods/salvage.ts'),
  'keep-image': () => import('./pods/keep-image.ts'),
  gate: () => import('./pods/gate.ts'),
  serve: () => import('./pods/serve.ts'),
  reconcile: () => import('./pods/reconcile.ts'),
};

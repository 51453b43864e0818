import type { Command } from './cli/command.ts';
import type { CommandName } from './cli/program.ts';

/** Loads the module of a command. */
export const commands: Record<CommandName, () => Promise<{ run: Command }>> = {
  backup: () => import('./backup.ts'),
  list: () => import('./list.ts'),
  show: () => import('./show.ts'),
  verify: () => import('./verify.ts'),
  prune: () => import('./prune.ts'),
  copy: () => import('./copy.ts'),
  check: () => import('./check.ts'),
  status: () => import('./status.ts'),
  exporter: () => import('./exporter/exporter.ts'),
  pin: () => import('./pin.ts').then(({ pin }) => ({ run: pin })),
  unpin: () => import('./pin.ts').then(({ unpin }) => ({ run: unpin })),
  adopt: () => import('./adopt.ts'),
  'restore fetch': () => import('./restore/fetch.ts'),
  'restore extra': () => import('./restore/extra.ts'),
  'restore data-dir': () => import('./restore/data-dir.ts'),
  'restore serve': () => import('./pods/restore-serve.ts'),
  'restore control-plane': () => import('./restore/control-plane.ts'),
  salvage: () => import('./pods/salvage.ts'),
  'keep-image': () => import('./pods/keep-image.ts'),
  gate: () => import('./pods/gate.ts'),
  serve: () => import('./pods/serve.ts'),
  reconcile: () => import('./pods/reconcile.ts'),
};

import type { Command } from './cli/command.ts';
import { changePins } from './pin.ts';

export const run: Command = (context) => changePins(context, false);

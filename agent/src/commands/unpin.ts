import type { Command } from '../command.ts';
import { changePins } from './pin.ts';

export const run: Command = (context) => changePins(context, false);

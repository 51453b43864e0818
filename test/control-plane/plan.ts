import type { Output } from '../e2e/support/kubectl';
import { onNode } from './nodes';

/** A numbered step that `restore control-plane --plan` printed. */
export interface Step {
  /** Undefined: it is for every node. */
  readonly node?: string;
  readonly why: string;
  readonly commands: readonly string[];
}

/** The same step on each node. */
export type Round = readonly Step[];

/** Reads the steps out of what a person reads. */
export function parsePlan(text: string): Step[] {
  const steps: { node?: string; why: string; commands: string[] }[] = [];
  let open = false;
  for (const line of text.split('\n')) {
    const [, title] = /^\d+\. (.*)$/.exec(line) ?? [];
    const [, command] = /^ {5}(\S.*)$/.exec(line) ?? [];
    if (title) steps.push({ node: /^On (\S+) \(/.exec(title)?.[1], why: title, commands: [] });
    else if (open && command) steps.at(-1)?.commands.push(command);
    open = title !== undefined || (open && command !== undefined);
  }
  return steps;
}

/** A machine without a service manager, as a node of a test may be, has the kubelet started again when it ends. */
const services = '[ -d /run/systemd/system ] || systemctl() { kill "$(pidof "$2")"; }';

/** What the plan says, typed by somebody who does nothing else. */
export class Procedure {
  /** What is done on all nodes before one goes on: a step for each. */
  readonly rounds: readonly Round[];
  private readonly first: readonly string[];

  constructor(text: string) {
    const steps = parsePlan(text);
    const named = steps.filter(({ node }) => node !== undefined);
    this.first = steps.filter(({ node }) => node === undefined).flatMap(({ commands }) => commands);
    const whats = [...new Set(named.map(what))];
    this.rounds = whats.map((wanted) => named.filter((step) => what(step) === wanted));
  }

  /** The commands of the plan that contain this, of one node. */
  command(node: string, part: string): string {
    const all = this.rounds.flat().filter((step) => step.node === node);
    const found = all.flatMap(({ commands }) => commands).find((command) => command.includes(part));
    if (!found) throw new Error(`the plan has no ${part} for ${node}`);
    return found;
  }

  /** Types something in the shell that the plan has set up. */
  type(node: string, ...commands: readonly string[]): Promise<Output> {
    return onNode(node, services, ...this.first, ...commands);
  }

  follow(round: Round): Promise<Output[]> {
    return Promise.all(round.map(({ node, commands }) => this.type(node!, ...commands)));
  }
}

export const succeeds = (work: Promise<unknown>): Promise<boolean> => work.then(() => true);

const what = ({ why }: Step): string => why.replace(/^.*?\): /, '');

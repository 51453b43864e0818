import { type Condition, is, unknown } from '../../../protocol/condition.ts';
import type { View } from '../engine/view.ts';
import { voters } from '../facts/facts.ts';
import {
  askedScheme,
  endOfPlaintext,
  isPlaintextOver,
  openSince,
  speaksOtherwise,
  timeForClients,
  transportOf,
  transportRefusal,
} from '../facts/transport.ts';
import { switchStep } from '../facts/transport-steps.ts';

const type = 'TransportReady';

/** Whether members and clients speak as the spec says, and what a switch waits for. */
export function transport(v: View): Condition {
  const refusal = transportRefusal(v);
  if (refusal !== undefined) return is(type, false, 'TlsRefused', refusal);
  if (!v.record.seeded) return unknown(type, v.record.phase === 'Restoring' ? 'Restoring' : 'Bootstrapping');
  if (!v.o.members.known) return unknown(type, 'StateUnknown', `the members are not known: ${v.o.members.why}`);
  const step = switchStep(v);
  if (step !== undefined)
    return is(type, false, 'SwitchingTransport', [step, whoMayUseHttpMeanwhile(v)].filter(Boolean).join('; '));
  const open = whoMayUseHttp(v);
  if (open !== undefined) return is(type, false, 'PlaintextAccepted', open);
  return is(type, true, askedScheme(v) === 'https' ? 'Tls' : 'Plaintext');
}

/** The same in a step, in which members may differ. */
function whoMayUseHttpMeanwhile(v: View): string | undefined {
  const { peers, clients, target } = transportOf(v);
  if (!v.spec.tls) return undefined;
  if (target === 'http')
    return clients === 'both' ? 'members that have restarted accept http and https from clients' : undefined;
  if (peers === 'http' && !isPlaintextOver(v)) return whoMayUseHttp(v);
  const isRolling = voters(v).some(({ ordinal = -1 }) => speaksOtherwise(v, { ordinal }));
  return peers === 'http' || isRolling ? 'members that have not restarted still accept http' : undefined;
}

function whoMayUseHttp(v: View): string | undefined {
  const { clients, target } = transportOf(v);
  if (clients !== 'both') return undefined;
  if (target === 'http')
    return 'clients may use http and https; when all use http, apply EtcdTls.none() without `from`, which takes the certificates away';
  if (openSince(v) === undefined)
    return `clients may use http and https for ${timeForClients(v) / 3_600_000} h after step 2`;
  const end = new Date(endOfPlaintext(v)).toISOString();
  return `clients may use http and https until ${end}, then https only; to end this now, set acceptPlaintextFor to zero`;
}

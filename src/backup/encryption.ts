import { built } from '../validation/kinds';
import { ageKinds } from '../validation/property-kinds';
import { ageRecipientProblem, isPostQuantum } from './age-recipient';

/** Whom backups are encrypted for. */
export interface AgeEncryptionProps {
  /**
   * Public keys, `age1…`: whoever has the secret key of one of them can read the backups. Give two, and keep the second
   * secret key elsewhere: without one of them no backup can ever be read again. All of them post-quantum (`age1pq1…`), or
   * none.
   */
  readonly recipients: string[];
}

/** Backups are encrypted before they leave the pod, which has no key to decrypt them. */
export class Encryption {
  /** With [age](https://age-encryption.org); `age -d` decrypts without the agent. */
  static age(props: AgeEncryptionProps): Encryption {
    return built(Encryption.prototype, props, ageKinds, () => new Encryption(props.recipients));
  }

  private constructor(private readonly recipients: readonly string[]) {}

  /** @internal */
  _recipients(): readonly string[] {
    return this.recipients;
  }

  /**
   * As the custom resources have it.
   * @internal
   */
  _spec(): { age: { recipients: readonly string[] } } {
    return { age: { recipients: this.recipients } };
  }

  /** @internal */
  _problems(): string[] {
    const { recipients } = this;
    if (recipients.length === 0) return ['encryption: recipients: none given; name at least one, age1…'];
    const problems = recipients.flatMap((recipient) => ageRecipientProblem(recipient) ?? []);
    if (problems.length === 0 && recipients.some(isPostQuantum) && !recipients.every(isPostQuantum)) {
      problems.push('some are post-quantum and some are not, so none would be protected; give one kind only');
    }
    return problems.map((problem) => `encryption: recipients: ${problem}`);
  }
}

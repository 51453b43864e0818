/** What is wrong with a connection to etcd or with its user. */
export type EtcdMistake =
  | 'unknownAuthority'
  | 'certificateExpired'
  | 'certificateMissing'
  | 'handshakeRefused'
  | 'noTls'
  | 'userMissing'
  | 'userRefused'
  | 'notRoot';

/** A setting that differs from that of an earlier restore. */
export interface Differing {
  /** Its name in a request. */
  readonly setting: string;
  readonly was: unknown;
  readonly now: unknown;
}

/** Snapshots whose folder in the store is not that of their cluster, because the store begins at another path. */
export interface Misplaced {
  readonly cluster: string;
  readonly namespace?: string | undefined;
  readonly folder: string;
  /** The path below this store at which the store begins that the snapshots were written to. */
  readonly below?: string;
  /** The end of this store's path that belongs to the folder of the cluster. */
  readonly above?: string;
  /** Set if the path of the store may be right, because these snapshots may lie there for another reason. */
  readonly isGuess?: true;
  /** Id of one of them, among snapshots that lie where they belong. */
  readonly id?: string;
}

/** One finding of several. */
export function together(...all: readonly (Finding | undefined)[]): Finding | undefined {
  const findings = all.filter((each) => each !== undefined);
  return findings.length < 2 ? findings[0] : { kind: 'all', findings };
}

/** A sentence with what a command can say more about it. An AgentError is one too. */
export interface Remark {
  readonly message: string;
  /** The setting that is wrong, by its name in a request. */
  readonly at?: string | undefined;
  readonly finding?: Finding | undefined;
}

/** How a snapshot that cannot be used becomes one again. Times are ISO 8601. */
type Remedy =
  /** Its finding is damaged. */
  | { readonly kind: 'findingDamaged'; readonly id: string; readonly objectKey?: string | undefined }
  | { readonly kind: 'payloadMissing'; readonly manifestKey: string; readonly isExact: boolean }
  /** Its payload is that of another snapshot. */
  | { readonly kind: 'payloadOwned'; readonly id: string; readonly manifestKey: string }
  | {
      readonly kind: 'orphan';
      readonly key: string;
      readonly manifest: 'missing' | 'damaged' | 'ofAnother';
      /** A backup may write the manifest until then. */
      readonly until?: string | undefined;
      /** A backup has marked the payload as one that it writes. */
      readonly isMarked?: boolean;
      /** The key with which a backup has reserved the name. */
      readonly reservation?: string | undefined;
    };

/**
 * What a function has found out, as data: whoever shows it to a user says what to do about it, with the flags and commands of the
 * program that the user has started. `commands/advice` has the sentence for each.
 */
export type Finding =
  | Remedy
  /** Several, in the order in which they are said. */
  | { readonly kind: 'all'; readonly findings: readonly Finding[] }
  | { readonly kind: EtcdMistake | 'keyPair' | 'closedPlainly' | 'closedTls' | 'unknownHost' | 'userInEndpoint' }
  /** A time limit is too short. */
  | { readonly kind: 'short'; readonly limit: 'timeout' | 'dialTimeout' | 'idleTimeout' }
  /** The whole run was too slow, or the store owes it an answer. */
  | { readonly kind: 'timedOut'; readonly isWaiting: boolean }
  | { readonly kind: 'etcdutlMissing'; readonly isOptional?: boolean }
  | { readonly kind: 'etcdutlUnknown' }
  // Which member to back up.
  | { readonly kind: 'foreignAddress' | 'learnersOnly' | 'noQuorum' | 'nearlyFull' }
  // Where a store begins, and which of its folders is meant.
  | { readonly kind: 'wrongStore' | 'noDirectory' | 'newDirectory' }
  | { readonly kind: 'namespaceUnknown' | 'namespaceUnchecked' }
  | { readonly kind: 'severalFolders'; readonly namespaces: readonly string[]; readonly tooDeep?: string | undefined }
  /** `folders`: with what they hold. */
  | { readonly kind: 'elsewhere'; readonly folders: readonly string[]; readonly isNamesake: boolean }
  | {
      readonly kind: 'heldBy';
      readonly folder: string;
      readonly cluster: string;
      readonly namespace?: string | undefined;
    }
  | { readonly kind: 'misplaced'; readonly misplaced: Misplaced }
  // Which etcd is meant.
  | { readonly kind: 'severalEtcds'; readonly isApart: boolean }
  | { readonly kind: 'otherEtcd'; readonly clusterId: string }
  | { readonly kind: 'otherEtcdInCopy' | 'mixedEtcds' }
  | { readonly kind: 'adoptedNewest' | 'unsure'; readonly clusterId?: string | undefined }
  | { readonly kind: 'restoredAs'; readonly clusterId: string; readonly newest: string }
  | {
      readonly kind: 'mayBeNewer';
      readonly newest?: string | undefined;
      readonly clusterId?: string | undefined;
    }
  // Which snapshot is meant.
  | { readonly kind: 'listed'; readonly remedy?: Finding | undefined }
  | { readonly kind: 'unknownId'; readonly id: string }
  | { readonly kind: 'unclaimed'; readonly key: string }
  | { readonly kind: 'unproved'; readonly id: string }
  // How a snapshot is stored.
  | { readonly kind: 'keyTaken' | 'slowStore' | 'plaintext' }
  | { readonly kind: 'markerMissing' | 'markerLeft' }
  | { readonly kind: 'readOnly' }
  | { readonly kind: 'noDelete'; readonly key: string }
  // What is adopted.
  | { readonly kind: 'amongOthers' | 'unnamedOwner' }
  | { readonly kind: 'mayRun'; readonly key: string }
  | {
      readonly kind: 'earlierFinding';
      readonly id: string;
      readonly objectKey?: string | undefined;
      /** Whether it counts, cannot be read, or could not be replaced. */
      readonly state: 'stands' | 'damaged' | 'left';
    }
  // What is restored, and over which data.
  | { readonly kind: 'noExtra' | 'authEnabled' | 'highestRevision' | 'memberUnknown' | 'markerUnreadable' }
  | { readonly kind: 'separateLog'; readonly dataDir: string }
  /** The one of several data directories that is that of the named member. */
  | { readonly kind: 'otherDataDir'; readonly dataDir: string }
  | {
      readonly kind: 'restoredBefore';
      readonly differs: readonly Differing[];
      readonly isAlone: boolean;
      readonly isRunning: boolean;
      readonly byEtcd?: boolean | undefined;
      /** Another token than that of the present data. */
      readonly newToken?: string | undefined;
    }
  // The node of a control plane.
  | { readonly kind: 'severalSources'; readonly settings: readonly string[] }
  | { readonly kind: 'unitUnreadable' | 'externalEtcd' | 'noProcess' | 'severalProcesses' | 'dataElsewhere' }
  | { readonly kind: 'otherManifestsDir' | 'noManifest' | 'configUnread' | 'dataDirUnknown' | 'ownProcesses' }
  | { readonly kind: 'notMounted'; readonly folders: readonly string[] }
  | { readonly kind: 'etcdProcess'; readonly isMissing: boolean }
  | {
      readonly kind: 'filesStored';
      readonly id: string;
      readonly nodeName?: string | undefined;
      readonly tar: string;
      readonly files: readonly string[];
      /** The command that creates the certificates instead. */
      readonly create: string;
    }
  // The restore of a control plane.
  | { readonly kind: 'sameAgain' | 'notStopped' | 'otherLog' | 'servesOld' | 'newMachines' | 'undoAgain' }
  | { readonly kind: 'foreign'; readonly isUnread: boolean }
  | { readonly kind: 'leftOut'; readonly count: number }
  /** `bump`: a number that is high enough, unless nothing beyond what is known could be believed. */
  | { readonly kind: 'wrongClock'; readonly several: boolean; readonly bump: number | undefined }
  | { readonly kind: 'lowBump'; readonly several: boolean; readonly bump: number }
  | { readonly kind: 'restoredOtherwise'; readonly id: string; readonly bump: number }
  | { readonly kind: 'undoUnsure'; readonly memberDir: string }
  | {
      readonly kind: 'membersRemoved';
      readonly manifests: string;
      readonly manifestsDir: string;
      readonly folder: string;
    };

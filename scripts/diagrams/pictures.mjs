// The pictures of docs/concepts/, by their names. What they show is also in the text of their pages.
import { picture } from './picture.mjs';

const whatRunsWhere = picture('What runs where', [
  {
    frame: 'Your repository',
    items: [{ who: 'library', text: 'Your app declares a cluster and its backups. Synthesis writes plain YAML.' }],
  },
  { arrow: 'kubectl apply, Argo CD or Flux' },
  {
    frame: 'A namespace of Kubernetes',
    items: [
      { who: 'Kubernetes', text: 'The API server has the EtcdCluster, the StatefulSet and the record of the cluster.' },
      {
        who: 'reconciler',
        text: 'One Deployment for all clusters of the namespace. It alone changes members, and writes record and status.',
      },
      {
        frame: 'The pod of each member',
        items: [
          { who: 'gate', text: 'Runs first: prepares the volume, and waits for permission to start.' },
          { who: 'etcd', text: 'The official image. Clients connect to port 2379.' },
          { who: 'agent', text: 'A sidecar: answers the probes, and reports the state of the member.' },
        ],
      },
      { who: 'Job', text: 'A backup, a restore or a verification. It has the credentials of the store.' },
    ],
  },
  { arrow: 'snapshots, encrypted if you like' },
  { who: 'store', text: 'S3, OSS, SFTP, a volume, or a script of yours.' },
]);

const memberJoins = picture('How a member joins', [
  { who: 'Kubernetes', text: 'Starts a pod with an empty volume.' },
  { who: 'gate', text: 'Gives the volume a random volumeId, reports it, and waits.' },
  { who: 'reconciler', text: 'Writes into the record that it is about to add a learner.' },
  { who: 'etcd', text: 'Accepts the new member as a learner, which has no vote.' },
  { who: 'reconciler', text: 'Writes a permit for this one volumeId into the record.' },
  { who: 'gate', text: "Reads the permit, writes etcd's configuration, and exits." },
  { who: 'etcd', text: 'Starts, and copies the data from the leader.' },
  { who: 'reconciler', text: 'Makes it a voter as soon as it lags by at most 1,000 entries, twice in a row.' },
]);

const backupBecomesOne = picture('How a backup becomes one', [
  { who: 'Job', text: 'Compares the data of all voters, and selects a healthy one, if possible a follower.' },
  { who: 'etcd', text: 'Sends its snapshot as a stream, which ends with a checksum.' },
  { who: 'Job', text: 'Counts, checks, compresses and encrypts it on the way, without a temporary file.' },
  { who: 'store', text: 'Holds the payload. It is not a backup yet.' },
  { who: 'Job', text: 'Reads the payload back, and compares it with what etcd sent.' },
  {
    fork: [
      [
        { who: 'Job', text: 'The same: writes the manifest. Now it is a backup.' },
        { who: 'Job', text: 'Retention may delete older ones.' },
      ],
      [
        { who: 'Job', text: 'Not the same: removes the payload, and fails.' },
        { who: 'you', text: 'Get an alert. Older backups stay.' },
      ],
    ],
  },
]);

const quorumLoss = picture('What happens when the quorum is lost', [
  { who: 'etcd', text: 'A majority of the members does not answer. Reads and writes stop.' },
  { who: 'reconciler', text: 'Reports QuorumLost after a minute, and changes nothing.' },
  {
    fork: [
      [
        { who: 'reconciler', text: 'MajorityDown: the volumes are intact.' },
        { who: 'you', text: 'Bring back nodes and pods.' },
        { who: 'etcd', text: 'Continues. No acknowledged write is lost.' },
      ],
      [
        { who: 'reconciler', text: 'Volumes are lost: it waits for you.' },
        { who: 'you', text: 'Choose: recover from a survivor, or restore a backup.' },
        { who: 'reconciler', text: 'Backs up the survivor if you chose it.' },
        { who: 'reconciler', text: 'Keeps out all old data, and starts one member from the snapshot.' },
        { who: 'etcd', text: 'The others join. The cluster has a new cluster id.' },
      ],
    ],
  },
]);

const certificateRenewed = picture('How a certificate is renewed', [
  { who: 'reconciler', text: 'Sees that a certificate is older than 60 of its 90 days.' },
  { who: 'reconciler', text: 'Issues a new one, signed by the intermediate, and writes it into the same Secret.' },
  { who: 'Kubernetes', text: 'Updates the files in the running pods, which takes a minute or two.' },
  {
    fork: [
      [{ who: 'etcd', text: 'Reads the new files at the next connection, without a restart.' }],
      [{ who: 'client', text: 'Reads its files again, at the latest 30 days later.' }],
    ],
  },
]);

const overview = picture('cdk8s-etcd at a glance', [
  { who: 'library', text: 'Your app becomes plain YAML.' },
  { arrow: 'kubectl apply, Argo CD or Flux' },
  {
    frame: 'A namespace of Kubernetes',
    items: [
      { who: 'reconciler', text: 'Forms, heals, upgrades and restores.' },
      { who: 'etcd', text: 'orders-0, orders-1, orders-2' },
    ],
  },
  { arrow: 'verified backups' },
  { who: 'store', text: 'S3, OSS, SFTP, a volume, or a script.' },
]);

export const pictures = {
  overview,
  'what-runs-where': whatRunsWhere,
  'how-a-member-joins': memberJoins,
  'how-a-backup-becomes-one': backupBecomesOne,
  'quorum-loss': quorumLoss,
  'certificate-renewal': certificateRenewed,
};

/** Words that name a secret. */
export const words =
  'token|password|passwd|passphrase|passcode|pwd|secret|(?:api|access|account|private|shared|signing|encryption)[_-]?key|connection[_-]?string|signature|credential|authorization';

/** Fields whose values are secret however deep they are. A `secretKeyRef` and a `serviceAccountToken` have none. */
export const secretField = new RegExp(
  `^_?auth$|cookie|${words.replace('token|', '(?<!serviceAccount)token|').replace('|secret|', '|secret[_-]?key(?!ref)|')}`,
  'i',
);

/** Fields with a secret, the name of a Secret, or an object that refers to one. */
export const secretOrReference = /secrets?$/i;

/** Fields of our resources with the name of a Secret, with the field in which they are. */
export const nameField =
  /^(?:tls\.clientSecret|certificates\.secret|.*\.(?:backup|certificate|identity|password|peer|root|server|trust)Secret)$/;

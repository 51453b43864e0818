const reference =
  /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::([\w][\w.-]{0,127}))?(?:@[a-z0-9]+:[0-9a-f]{32,})?$/;

export function isImage(image: string): boolean {
  return reference.test(image);
}

/**
 * Returns the etcd version in the tag of an image, or undefined if the tag is not a version. Builds of a version often
 * add a suffix, such as `3.6.16-0`; a pre-release is a different version.
 */
export function versionOfImage(image: string): string | undefined {
  const tag = reference.exec(image)?.[1] ?? '';
  const [, version] = /^v?(\d+\.\d+\.\d+)(?:-(?!alpha|beta|rc)[\w.-]+)?$/.exec(tag) ?? [];
  return version;
}

const reference =
  /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::([\w][\w.-]{0,127}))?(?:@[a-z0-9]+:[0-9a-f]{32,})?$/;

export function isImage(image: string): boolean {
  return reference.test(image);
}

/**
 * What the tag of an etcd image says. Builds of a version often add something of their own, such as `3.6.16-0`; a pre-release
 * is another version.
 */
export function versionOfImage(image: string): string | undefined {
  const tag = reference.exec(image)?.[1] ?? '';
  const [, version] = /^v?(\d+\.\d+\.\d+)(?:-(?!alpha|beta|rc)[\w.-]+)?$/.exec(tag) ?? [];
  return version;
}

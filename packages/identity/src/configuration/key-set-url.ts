import type { Fields } from './fields.ts';

/** Over plain HTTP an attacker could replace the keys; on this machine a test's provider may do without TLS. */
export function checkKeySetUrl(fields: Fields, name: string, url: string): string {
  if (!URL.canParse(url)) return fields.fail(name, `has to be a URL, not "${url}".`);
  const { protocol, hostname } = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'https:' || (protocol === 'http:' && isLocal)) return url;
  return fields.fail(
    name,
    `has to begin with https://, not "${url}": anybody on the way could put keys of theirs into it.`,
  );
}

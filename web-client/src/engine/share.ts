import { readProfile } from './read-profile.ts';
import type { ConnectionProfile, Secrets, UserProperties } from './types.ts';

/** Names of parameters and user properties whose values are treated as secrets. */
const SECRET_NAME = /token|secret|passw|credential|signature|api[-_]?key|authorization|^sig$|^key$|^x-amz-/i;

/** The fragment of the address of a page that shares a connection. */
const SHARE_PREFIX = '#/share/';

/** A longer shared address is not read. */
const SHARE_LENGTH_MAX = 100_000;

/** A profile without the fields that are not shared or exported: secrets, and settings of this browser. */
export type PublicProfile = Omit<ConnectionProfile, 'id' | 'storeSecrets' | 'keepsMessages'>;

/** The profile for others. Secrets in the URL or in user properties are removed, too. */
export function publicProfile(profile: ConnectionProfile): PublicProfile {
  const { id: _id, storeSecrets: _storeSecrets, keepsMessages: _keepsMessages, ...shared } = profile;
  const { url, secrets } = splitUrl(profile.url, profile.tokenParameter);
  return {
    ...shared,
    url: withoutSecretParameters(url),
    needs: {
      password: profile.needs.password || secrets.password !== undefined,
      token: profile.needs.token || secrets.token !== undefined,
    },
    userProperties: withoutSecrets(profile.userProperties),
    ...(profile.will === undefined
      ? {}
      : {
          will: {
            ...profile.will,
            properties: {
              ...profile.will.properties,
              userProperties: withoutSecrets(profile.will.properties.userProperties ?? []),
            },
          },
        }),
  };
}

/** The address that opens this page with the connection. The profile is behind the `#`, so no server sees it. */
export function shareAddress(profile: ConnectionProfile, page: string): string {
  const bytes = new TextEncoder().encode(JSON.stringify(publicProfile(profile)));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const url = new URL(page);
  url.hash = `${SHARE_PREFIX}${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  return url.href;
}

/** The connection in a shared address; undefined if there is none. */
export function sharedProfile(hash: string): ConnectionProfile | undefined {
  if (!hash.startsWith(SHARE_PREFIX) || hash.length > SHARE_LENGTH_MAX) return undefined;
  const base64 = hash.slice(SHARE_PREFIX.length).replaceAll('-', '+').replaceAll('_', '/');
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const profile = readProfile(JSON.parse(new TextDecoder().decode(bytes)));
    // Its receiver has not agreed to store messages.
    return profile && { ...profile, keepsMessages: false };
  } catch {
    // Not base64, or no JSON: a link that was cut short.
    return undefined;
  }
}

/** Moves the client's credentials out of a URL: `user:password@`, and the token in the query. */
export function splitUrl(
  url: string,
  tokenParameter: string,
): { readonly url: string; readonly username: string; readonly secrets: Secrets } {
  if (!URL.canParse(url)) return { url, username: '', secrets: {} };
  const parsed = new URL(url);
  const token = parsed.searchParams.get(tokenParameter) ?? undefined;
  const { username, password } = parsed;
  if (token === undefined && username === '' && password === '') return { url, username: '', secrets: {} };
  parsed.searchParams.delete(tokenParameter);
  parsed.username = '';
  parsed.password = '';
  return {
    url: parsed.href,
    username: decodeURIComponent(username),
    secrets: { password: password === '' ? undefined : decodeURIComponent(password), token },
  };
}

function withoutSecretParameters(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  const secret = [...parsed.searchParams.keys()].filter((name) => SECRET_NAME.test(name));
  if (secret.length === 0) return url;
  for (const name of secret) parsed.searchParams.delete(name);
  return parsed.href;
}

function withoutSecrets(properties: UserProperties): UserProperties {
  return properties.filter(([name]) => !SECRET_NAME.test(name));
}

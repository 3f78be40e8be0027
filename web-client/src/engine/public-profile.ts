import type { ConnectionProfile, Secrets, UserProperties } from './types.ts';

/** Names of parameters and user properties whose values are treated as secrets. */
const SECRET_NAME = /token|secret|passw|credential|signature|api[-_]?key|authorization|^sig$|^key$|^x-amz-/i;

/** A profile without the fields that are not exported: secrets, and settings of this browser. */
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

import { splitUrl } from '../../engine/public-profile.ts';
import type { ConnectionProfile, Secrets, WillProfile } from '../../engine/types.ts';

/** The unsaved state of the connection editor. */
export interface ConnectionForm {
  readonly profile: ConnectionProfile;
  readonly secrets: Secrets;
}

export const NEW_WILL: WillProfile = { topic: '', payload: '', qos: 0, retain: false, properties: {} };

/** Moves credentials out of the URL into their fields. */
export function withSplitUrl(form: ConnectionForm): ConnectionForm {
  const { profile, secrets } = form;
  const split = splitUrl(profile.url.trim(), profile.tokenParameter);
  if (split.url === profile.url) return form;
  return {
    profile: {
      ...profile,
      url: split.url,
      username: split.username === '' ? profile.username : split.username,
    },
    secrets: {
      ...secrets,
      password: split.secrets.password ?? secrets.password,
      token: split.secrets.token ?? secrets.token,
    },
  };
}

/** The form in the saved form: the secrets that it contains determine which ones are needed. */
export function savedForm(form: ConnectionForm): ConnectionForm {
  const { profile, secrets } = withSplitUrl(form);
  const { password = '', token = '' } = secrets;
  return {
    profile: { ...profile, needs: { password: password !== '', token: token !== '' } },
    secrets: {
      ...secrets,
      password: password === '' ? undefined : password,
      token: token === '' ? undefined : token,
    },
  };
}

export function isUrlRight(url: string): boolean {
  return URL.canParse(url) && /^wss?:$/.test(new URL(url).protocol);
}

/** The default name of a connection: its address. */
export function nameOfUrl(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** `apus-` and eight characters: short enough for MQTT 3.1, and unique for each browser. */
export function makeClientId(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `apus-${Array.from(bytes, (byte) => letters[byte % letters.length]).join('')}`;
}

import { isIP } from 'node:net';
import { Fields } from '@apus/identity';
import { countOf } from '../../configuration/numbers.ts';
import { certificateOf, type Place, secretOf } from '../../configuration/place.ts';
import { AddressGuard, isRange } from '../targets/addresses.ts';

/** An HTTP endpoint; the rule posts messages to it. */
export interface WebhookConfiguration {
  readonly kind: 'webhook';
  readonly url: URL;
  /** The secret that signs the requests. Undefined: they are not signed. */
  readonly secret: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Most messages in one request. */
  readonly batch: number;
  /** The IP addresses that the URL may lead to. */
  readonly addresses: AddressGuard;
  /** Trusted certificate authorities in place of the usual ones, in PEM. */
  readonly ca: string | undefined;
}

const TIMEOUT_SECONDS = 10;
const TIMEOUT_SECONDS_MAX = 60;
const BATCH = 20;
const BATCH_MAX = 100;
const HEADERS_MAX = 20;
/** Headers that the rule writes itself. */
const OWN_HEADERS = /^(webhook-.*|content-type|content-length|host|connection|transfer-encoding)$/i;
const HEADER_NAME = /^[A-Za-z0-9-]{1,100}$/;

export function readWebhook(fields: Fields, place: Place): WebhookConfiguration {
  const addresses = new AddressGuard(rangesOf(fields));
  return {
    kind: 'webhook',
    url: urlOf(fields, addresses),
    secret: secretOf(fields, 'secret', place),
    headers: headersOf(fields, place),
    timeoutSeconds: countOf(fields, 'timeoutSeconds', 1, TIMEOUT_SECONDS_MAX, TIMEOUT_SECONDS),
    batch: countOf(fields, 'batch', 1, BATCH_MAX, BATCH),
    addresses,
    ca: certificateOf(fields, 'ca', place),
  };
}

function rangesOf(fields: Fields): readonly string[] {
  const ranges = fields.texts('allowAddresses') ?? [];
  const wrong = ranges.find((range) => !isRange(range));
  if (wrong !== undefined)
    fields.fail('allowAddresses', `has to be addresses as 10.0.0.0/8 or ::1, not ${JSON.stringify(wrong)}.`);
  return ranges;
}

function urlOf(fields: Fields, addresses: AddressGuard): URL {
  const text = fields.requiredText('url', 'the endpoint, as https://example.com/hook.');
  if (!URL.canParse(text)) return fields.fail('url', 'has to be a URL as https://example.com/hook.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    fields.fail('url', 'has to begin with https: or http:.');
  if (url.username !== '' || url.password !== '')
    fields.fail('url', 'has no user and password in it: use a header Authorization.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !addresses.allows(host))
    fields.fail('url', `leads to ${host}, which is inside: name it in "allowAddresses" if that is meant.`);
  return url;
}

function headersOf(parent: Fields, place: Place): Readonly<Record<string, string>> {
  const value = parent.raw('headers') ?? {};
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const fields = new Fields(value, `${parent.where}.headers`, names);
  if (names.length > HEADERS_MAX) parent.fail('headers', `has at most ${HEADERS_MAX} headers.`);
  const headers: Record<string, string> = {};
  for (const name of names) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name))
      fields.fail(name, 'is no header that may be set here.');
    const text = secretOf(fields, name, place) ?? '';
    if (/[^\t\x20-\x7e]/.test(text)) fields.fail(name, 'has to have printable ASCII characters only.');
    headers[name] = text;
  }
  return headers;
}

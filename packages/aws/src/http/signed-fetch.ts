import { sha256Hex } from './sha256.ts';
import { type AwsCredentials, encodePath, RequestSigner } from './sigv4.ts';

export interface SignedFetchOptions {
  /** As it stands in the names of its endpoints, and in what is signed: `lambda`. */
  readonly service: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** Where the service is, instead of AWS. */
  readonly endpoint?: string | undefined;
  readonly now: () => number;
  /** @default the platform's */
  readonly fetch?: typeof fetch | undefined;
}

export interface SignedRequest {
  readonly method: 'GET' | 'POST';
  /** As it stands on the wire, without a query. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

/**
 * Sends requests to a service of AWS, signed here: the SDK's client would be loaded for a single operation at each cold
 * start. A redirection is an error.
 */
export function signedFetch(options: SignedFetchOptions): (request: SignedRequest) => Promise<Response> {
  const { service, region, credentials, now } = options;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const endpoint = options.endpoint ?? `https://${service}.${region}.${domain}`;
  const signer = new RequestSigner(credentials, region, new URL(endpoint).host, service);
  const send = options.fetch ?? fetch;
  return async ({ method, path, body, signal }) => {
    const signed = signer.sign(method, encodePath(path), sha256Hex(body ?? ''), now());
    return await send(`${endpoint}${path}`, {
      method,
      headers: {
        ...headersIn(signed),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      signal,
      redirect: 'error',
    });
  };
}

/** The lines of `RequestSigner.sign` as fields; the host is in the URL. */
function headersIn(lines: string): Record<string, string> {
  const fields = lines
    .trimEnd()
    .split('\r\n')
    .map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
  return Object.fromEntries(fields.filter(([name]) => name !== 'host'));
}

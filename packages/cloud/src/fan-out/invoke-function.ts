import { type HookAnswer, type HookRequest, type HookSender, textOf } from '@apus/identity';
import { sha256Hex } from '../http/sha256.ts';
import { type AwsCredentials, encodePath, encodeStrictly, RequestSigner } from '../http/sigv4.ts';

const FUNCTION_ARN = /^arn:aws[\w-]*:lambda:([\w-]+):\d{12}:function:[\w-]+(?::[\w$-]+)?$/;

export interface FunctionSenderOptions {
  readonly functionArn: string;
  readonly credentials: AwsCredentials;
  readonly answerBytesMax: number;
  /** Where Lambda is, instead of AWS. */
  readonly endpoint?: string | undefined;
  readonly now: () => number;
  /** @default the platform's */
  readonly fetch?: typeof fetch;
}

/**
 * Sends the body of a request to a Lambda function, and returns the function's result as the body of an answer. The
 * request is signed here: the SDK's client would be loaded for this one call at each cold start.
 *
 * @throws {Error} if the ARN is not of a function
 */
export function functionSender(options: FunctionSenderOptions): HookSender {
  const { functionArn, credentials, answerBytesMax, now } = options;
  const region = regionOfFunction(functionArn);
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const endpoint = options.endpoint ?? `https://lambda.${region}.${domain}`;
  const path = `/2015-03-31/functions/${encodeStrictly(functionArn)}/invocations`;
  const signer = new RequestSigner(credentials, region, new URL(endpoint).host, 'lambda');
  const send = options.fetch ?? fetch;
  return {
    async send({ body = '' }: HookRequest, signal): Promise<HookAnswer> {
      const signed = signer.sign('POST', encodePath(path), sha256Hex(body), now());
      const headers = { ...headersIn(signed), 'content-type': 'application/json' };
      const response = await send(`${endpoint}${path}`, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'error',
      });
      const text = await textOf(response, answerBytesMax);
      if (response.status !== 200)
        throw new Error(`Lambda answered ${response.status}: ${text.slice(0, 200)}`);
      // A function that throws is no server that says no.
      const failure = response.headers.get('x-amz-function-error');
      if (failure !== null) throw new Error(`the function failed (${failure})`);
      return { status: 200, contentType: 'application/json', body: text };
    },
  };
}

/** @throws {Error} if the ARN is not of a Lambda function */
export function regionOfFunction(functionArn: string): string {
  const [, region] = FUNCTION_ARN.exec(functionArn) ?? [];
  if (region !== undefined) return region;
  throw new Error(`expected the ARN of a Lambda function, got "${functionArn}"`);
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

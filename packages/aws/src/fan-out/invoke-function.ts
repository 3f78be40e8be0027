import { type HookAnswer, type HookRequest, type HookSender, textOf } from '@apus/identity';
import { type SignedFetchOptions, signedFetch } from '../http/signed-fetch.ts';
import { encodeStrictly } from '../http/sigv4.ts';

const FUNCTION_ARN = /^arn:aws[\w-]*:lambda:([\w-]+):\d{12}:function:[\w-]+(?::[\w$-]+)?$/;

export interface FunctionSenderOptions extends Omit<SignedFetchOptions, 'service' | 'region'> {
  readonly functionArn: string;
  readonly answerBytesMax: number;
}

/**
 * Sends the body of a request to a Lambda function, and returns the function's result as the body of the answer.
 *
 * @throws {Error} if the ARN does not name a function
 */
export function functionSender(options: FunctionSenderOptions): HookSender {
  const { functionArn, answerBytesMax } = options;
  const send = signedFetch({ ...options, service: 'lambda', region: regionOfFunction(functionArn) });
  const path = `/2015-03-31/functions/${encodeStrictly(functionArn)}/invocations`;
  return {
    async send({ body = '' }: HookRequest, signal): Promise<HookAnswer> {
      const response = await send({ method: 'POST', path, body, signal });
      const text = await textOf(response, answerBytesMax);
      if (response.status !== 200)
        throw new Error(`Lambda answered ${response.status}: ${text.slice(0, 200)}`);
      // A function that throws has not refused: the answer is a failure.
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

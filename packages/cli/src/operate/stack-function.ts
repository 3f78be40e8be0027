import { installed } from '@apus/door';
import type { ApiRequest, Transport } from './broker-api.ts';
import { OperateError } from './operate-error.ts';
import { explained, stackOutput } from './stack-output.ts';

export interface StackFunctionOptions {
  /** The function's name or ARN, or the stack that has it, and the output with its name. */
  readonly function: string | { readonly stack: string; readonly output: string };
  /** @default the Region of the AWS profile */
  readonly region: string | undefined;
}

/**
 * A function of a deployment, invoked with the machine's AWS credentials. That of the operator answers the HTTP API: it
 * takes the event of a function URL.
 */
export class StackFunction implements Transport {
  readonly #options: StackFunctionOptions;
  #functionName: string | undefined;

  constructor(options: StackFunctionOptions) {
    this.#options = options;
  }

  get name(): string {
    return `The function ${this.#functionName}`;
  }

  async send({ method, path, headers, body }: ApiRequest): Promise<{ status: number; body: string }> {
    const [rawPath, rawQueryString = ''] = path.split('?');
    const requestContext = { http: { method } };
    const answer = await this.invoke<{ readonly statusCode?: number; readonly body?: string }>({
      ...{ rawPath, rawQueryString, headers, body, requestContext },
    });
    const { statusCode, body: text = '' } = answer;
    if (statusCode !== undefined) return { status: statusCode, body: text };
    throw new OperateError(`${this.name} is of another version of Apus than this command: deploy again.`);
  }

  /** @throws {OperateError} if it fails */
  async invoke<T>(event: object): Promise<T> {
    const { function: wanted, region } = this.#options;
    const { InvokeCommand, LambdaClient } = await installed(import('@aws-sdk/client-lambda'));
    this.#functionName ??=
      typeof wanted === 'string' ? wanted : await stackOutput(wanted.stack, wanted.output, region);
    const client = new LambdaClient({ maxAttempts: 3, ...(region !== undefined && { region }) });
    const command = new InvokeCommand({ FunctionName: this.#functionName, Payload: JSON.stringify(event) });
    const invoking = client.send(command);
    const { Payload, FunctionError } = await explained(invoking, 'Lambda', region, 'lambda:InvokeFunction');
    const text = new TextDecoder().decode(Payload);
    if (FunctionError === undefined) return JSON.parse(text) as T;
    throw new OperateError(`${this.name} has failed: ${text}`);
  }
}

import type { BanEntry } from '@apus/identity';
import { awsSentenceOf } from '../aws/errors.ts';
import {
  type Banned,
  type BanRequest,
  type ClientLine,
  type MemberLine,
  OperateError,
  type Operator,
  type StreamLine,
  type StreamPage,
  type StreamQuestion,
} from './operator.ts';
import { stackOutput } from './stack-output.ts';

/** The stack's output with the name of the function. */
const OUTPUT = 'OperatorName';

/** Clients in one call. */
const PAGE_LENGTH = 1_000;

export interface StackOperatorOptions {
  /** The function's name or ARN, or the stack that has it. */
  readonly function: string | { readonly stack: string };
  /**
   * The stack's output with the name of the function.
   * @default 'OperatorName'
   */
  readonly output?: string;
  /** @default the Region of the AWS profile */
  readonly region: string | undefined;
  /** @default 'default' */
  readonly tenant: string | undefined;
}

/** A deployment, through its function, with the machine's AWS credentials. */
export class StackOperator implements Operator {
  readonly #options: StackOperatorOptions;
  #functionName: string | undefined;

  constructor(options: StackOperatorOptions) {
    this.#options = options;
  }

  async *clients(username: string | undefined): AsyncGenerator<ClientLine> {
    let after: unknown;
    do {
      const asked = { action: 'clients', limit: PAGE_LENGTH, username, after };
      const { clients, next } = await this.invoke<{ clients: ClientLine[]; next?: unknown }>(asked);
      yield* clients;
      after = next;
    } while (after !== undefined);
  }

  async kick(clientId: string): Promise<boolean> {
    return (await this.invoke<{ kicked: boolean }>({ action: 'kick', clientId })).kicked;
  }

  async ban(request: BanRequest): Promise<Banned> {
    return await this.invoke<Banned>({ action: 'ban', ...request });
  }

  async unban(as: string, who: string): Promise<boolean> {
    return (await this.invoke<{ unbanned: boolean }>({ action: 'unban', as, who })).unbanned;
  }

  async *bans(): AsyncGenerator<BanEntry> {
    yield* (await this.invoke<{ bans: BanEntry[] }>({ action: 'bans' })).bans;
  }

  async streams(): Promise<readonly StreamLine[]> {
    return (await this.invoke<{ streams: StreamLine[] }>({ action: 'streams' })).streams;
  }

  async *members(room: string): AsyncGenerator<MemberLine> {
    let after: string | undefined;
    do {
      const asked = { action: 'members', room, after };
      const { members, next } = await this.invoke<{ members: MemberLine[]; next?: string }>(asked);
      yield* members;
      after = next;
    } while (after !== undefined);
  }

  async streamMessages(name: string, question: StreamQuestion): Promise<StreamPage> {
    return await this.invoke<StreamPage>({ action: 'stream-messages', name, ...question });
  }

  /**
   * Sends a request to the function.
   * @throws {OperateError} with the sentence that it answers
   */
  async invoke<T>(request: object): Promise<T> {
    const { tenant } = this.#options;
    const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
    this.#functionName ??= await this.#findFunction();
    const command = new InvokeCommand({
      FunctionName: this.#functionName,
      Payload: JSON.stringify({ ...request, ...(tenant !== undefined && { tenant }) }),
    });
    const client = new LambdaClient(this.#settings);
    const { Payload, FunctionError } = await this.#asked('Lambda', client.send(command));
    const text = Payload === undefined ? '' : new TextDecoder().decode(Payload);
    if (FunctionError !== undefined)
      throw new OperateError(`The function ${this.#functionName} has failed: ${text}`);
    const answer = JSON.parse(text) as T & { readonly error?: string };
    if (answer.error !== undefined) throw new OperateError(answer.error);
    return answer;
  }

  async #findFunction(): Promise<string> {
    const { function: wanted, output = OUTPUT } = this.#options;
    if (typeof wanted === 'string') return wanted;
    return await stackOutput(wanted.stack, output, this.#options.region);
  }

  get #settings() {
    const { region } = this.#options;
    return { maxAttempts: 3, ...(region !== undefined && { region }) };
  }

  async #asked<T>(service: string, asking: Promise<T>): Promise<T> {
    try {
      return await asking;
    } catch (error) {
      const { message } = error as Error;
      const isUnknown = /does not exist|not found/i.test(message);
      const denied =
        'Your credentials may not do that: lambda:InvokeFunction and cloudformation:DescribeStacks.';
      const sentence = isUnknown
        ? `${service} knows no such stack or function here: ${message}`
        : awsSentenceOf(error, { service, region: this.#options.region, denied });
      throw new OperateError(sentence, { cause: error });
    }
  }
}

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

/** An event of a stream, or a comment. */
export interface ReceivedEvent {
  readonly type: string;
  readonly id?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

const COMMENT: ReceivedEvent = { type: 'comment' };

/** A client of `GET /api/v5/events`, as `EventSource` is one. It lives as long as its test. */
export class EventClient {
  readonly #response: IncomingMessage;
  readonly #events: ReceivedEvent[] = [];
  #text = '';
  #hasEnded = false;
  #wake = () => {};

  /** @param query behind the question mark */
  static async open(
    httpUrl: string,
    query: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EventClient> {
    const request = get(new URL(`/api/v5/events?${query}`, httpUrl), { headers, agent: false });
    onTestFinished(() => void request.destroy());
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new EventClient(response);
  }

  private constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#read(text));
    response.on('close', () => {
      this.#hasEnded = true;
      this.#wake();
    });
    response.on('error', () => {});
  }

  get status(): number {
    return this.#response.statusCode ?? 0;
  }

  header(name: string): string | undefined {
    return this.#response.headers[name]?.toString();
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#response.destroy();
  }

  /** The next event or comment. Rejects if the stream ends before it. */
  async next(): Promise<ReceivedEvent> {
    const found = await this.#waitFor(() => this.#events.shift());
    if (found === undefined) throw new Error('the stream has ended');
    return found;
  }

  /** The data of the next message, without blocks that tell an id alone. */
  async message(): Promise<Readonly<Record<string, unknown>>> {
    const { type, data } = await this.event();
    if (type !== 'message')
      throw new Error(`a message was expected, and ${type} came: ${JSON.stringify(data)}`);
    return data ?? {};
  }

  /** The next event with data. */
  async event(): Promise<ReceivedEvent & { readonly data: Readonly<Record<string, unknown>> }> {
    for (;;) {
      const { data, ...found } = await this.next();
      if (data !== undefined) return { ...found, data };
    }
  }

  /** Everything that comes until the stream ends. */
  async rest(): Promise<readonly ReceivedEvent[]> {
    await this.#waitFor(() => (this.#hasEnded ? true : undefined));
    return this.#events.splice(0);
  }

  /** The body of an answer that is no stream. */
  async body(): Promise<unknown> {
    await this.rest();
    return JSON.parse(this.#text);
  }

  async #waitFor<T>(find: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const found = find();
      if (found !== undefined || this.#hasEnded) return found;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('nothing came in time')), PATIENCE_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #read(text: string): void {
    this.#text += text;
    if (!this.header('content-type')?.startsWith('text/event-stream')) return;
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop() ?? '';
    this.#events.push(...blocks.map(eventOf));
    this.#wake();
  }
}

function eventOf(block: string): ReceivedEvent {
  if (block.startsWith(':')) return COMMENT;
  const fields = new Map(
    block.split('\n').map((line) => [line.split(':', 1)[0], line.replace(/^\w+: /, '')]),
  );
  const [id, data] = [fields.get('id'), fields.get('data')];
  return {
    type: fields.get('event') ?? 'message',
    ...(id !== undefined && { id }),
    ...(data !== undefined && { data: JSON.parse(data) }),
  };
}

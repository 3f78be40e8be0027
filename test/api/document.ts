import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

type Schema = Readonly<Record<string, unknown>>;

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** An operation as the document describes it. */
export interface Described {
  readonly operationId: string;
  readonly method: string;
  /** `/clients/{clientid}` */
  readonly path: string;
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-apus-scope': 'tenant' | 'broker' | 'credential';
  readonly 'x-apus-roles': readonly string[];
  readonly 'x-apus-doors': readonly string[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Described, 'method' | 'path'>>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

/** An answer of the API. */
export interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly body: unknown;
}

/** The OpenAPI document of a door. Its schemas are closed: an answer with a field that it does not name is wrong. */
export class Document {
  readonly operations: readonly Described[];
  readonly #responses: OpenApi['components']['responses'];
  readonly #ajv: Ajv2020;
  readonly #components: Schema;
  /** The answers that were seen, as `getClient 404`. */
  readonly #seen = new Set<string>();

  constructor(document: unknown) {
    const { paths, components } = document as OpenApi;
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, each]) => ({ ...each, method: method.toUpperCase(), path })),
    );
    this.#responses = components.responses;
    this.#components = { schemas: closed(components.schemas) };
    this.#ajv = new Ajv2020({
      allErrors: true,
      allowUnionTypes: true,
      formats: { 'date-time': (text: string) => new Date(text).toISOString() === text },
      keywords: ['components'],
    });
  }

  operation(id: string): Described {
    const found = this.operations.find(({ operationId }) => operationId === id);
    if (found === undefined) throw new Error(`the document has no operation ${id}`);
    return found;
  }

  /** Expects an answer that the document describes for this operation. */
  expectAnswer(id: string, answered: Answered): void {
    const { status } = answered;
    const response = this.operation(id).responses[status];
    expect(response, `${id} is answered with ${status}: ${answered.text}`).toBeDefined();
    this.#seen.add(`${id} ${status}`);
    this.#expectContent(`${id} ${status}`, response ?? {}, answered);
  }

  /** Expects an answer to a path or a method that does not exist. */
  expectOther(name: 'NotFound' | 'MethodNotAllowed', answered: Answered): void {
    this.#expectContent(name, this.#responses[name] ?? {}, answered);
  }

  /** Answers of the document that no test has seen. */
  unseen(): readonly string[] {
    return this.operations
      .flatMap(({ operationId, responses }) =>
        Object.keys(responses).map((status) => `${operationId} ${status}`),
      )
      .filter((name) => !this.#seen.has(name));
  }

  #expectContent(what: string, { $ref, content }: Response, answered: Answered): void {
    const described = $ref === undefined ? content : this.#responses[$ref.split('/').at(-1) ?? '']?.content;
    if (described === undefined) {
      expect(answered.text, what).toBe('');
      return;
    }
    const schema = described[answered.type]?.schema;
    expect(schema, `${what} is ${answered.type}`).toBeDefined();
    const validate = this.#ajv.compile({ ...closed(schema as Schema), components: this.#components });
    validate(answered.body);
    expect(validate.errors ?? [], `${what}: ${answered.text}`).toEqual([]);
  }
}

/** The schema, closed: its objects allow no field that it does not name. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((each) => closed(each)) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isOpen = inner.type === 'object' && 'properties' in inner && !('additionalProperties' in inner);
  return (isOpen ? { ...inner, additionalProperties: false } : inner) as T;
}

/** A request to try. Parameters of the path are filled into the template of the document. */
export interface Trial {
  readonly status: number;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Runs before the request. */
  readonly before?: () => unknown;
}

export function pathOf(template: string, values: Readonly<Record<string, string>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'none'));
}

/** Calls the API. The base ends with `/api/v5`. */
export async function callApi(
  base: string,
  { method, path }: Pick<Described, 'method' | 'path'>,
  { path: values, query = '', body, headers = {} }: Omit<Trial, 'status'>,
): Promise<Answered> {
  const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${base}${pathOf(path, values)}${query}`, {
    method,
    headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(sent !== undefined && { body: sent }),
  });
  const type = response.headers.get('content-type') ?? '';
  const isStream = type === 'text/event-stream';
  const text = isStream ? await firstDataOf(response) : await response.text();
  const isJson = isStream || (type === 'application/json' && text !== '');
  return { status: response.status, type, text, body: isJson ? JSON.parse(text) : text };
}

/** The data of the first event, which ends the request. */
async function firstDataOf({ body }: globalThis.Response): Promise<string> {
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    const [, data] = /^data: (.*)\n/m.exec(text) ?? [];
    if (data !== undefined) return data;
  }
  throw new Error(`no event came: ${text}`);
}

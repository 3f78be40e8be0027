import type { Schema } from './schema.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * The callers of an operation. `operator`: has the key of the API. `client`: has a token that opens a connection.
 * `backend`: uses the URL of `httpPublish` of a deployment, with a key or a signature, within the rules of that
 * credential.
 */
export type Role = 'operator' | 'client' | 'backend';

/** The door that answers: a node, or a deployment over HTTPS. Each answers nearly every operation. */
export type Door = 'node' | 'deployment';

export interface Parameter {
  readonly description: string;
  /** @default both */
  readonly doors?: readonly Door[];
  readonly schema: Schema;
}

/** The body of a request or an answer. JSON, unless `type` says otherwise. */
export interface Content {
  readonly schema: Schema;
  readonly type?: string;
}

export interface Answer {
  readonly description: string;
  /** Absent if the answer has no body. */
  readonly content?: Content;
}

/** One operation of the HTTP API. `id` is its key in `OPERATIONS`. */
export interface Operation {
  readonly method: Method;
  /** The path below `/api/v5`; `:name` stands for one part. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The path parameters: one for each `:name`. */
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly body?: Content;
  /** The answers by status, without those that any operation may give (`COMMON_ANSWERS`). */
  readonly answers: Readonly<Record<number, Answer>>;
  /** @default the operator */
  readonly roles?: readonly Role[];
  /**
   * The doors that answer the operation; the other door answers 501.
   * @default both
   */
  readonly doors?: readonly Door[];
  /**
   * If one door does not answer this operation: the reason, and the place to look instead. The 501 contains this
   * sentence.
   */
  readonly elsewhere?: string;
  /**
   * `tenant`: the operation concerns the tenant in `Apus-Tenant`. `broker`: it concerns all tenants. `credential`: it
   * concerns the tenant of the caller's credential.
   */
  readonly scope: 'tenant' | 'broker' | 'credential';
}

export function parameter(description: string, schema: Schema, ...doors: readonly Door[]): Parameter {
  return { description, schema, ...(doors.length > 0 && { doors }) };
}

export function json(schema: Schema): Content {
  return { schema };
}

export function answer(description: string, schema?: Schema): Answer {
  return schema === undefined ? { description } : { description, content: { schema } };
}

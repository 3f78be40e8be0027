import type { Schema } from './schema.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * The callers of an operation. `operator`: with the key of the API. `client`: with a token that opens a connection. `backend`: at the
 * URL of `httpPublish` of a deployment, with a key or a signature, as far as its rules go.
 */
export type Role = 'operator' | 'client' | 'backend';

/** A node, or a deployment over HTTPS. Each answers nearly every operation. */
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
  /** Absent: the answer has no body. */
  readonly content?: Content;
}

/** One operation of the HTTP API. `id` is its key in `OPERATIONS`. */
export interface Operation {
  readonly method: Method;
  /** Below `/api/v5`; `:name` stands for one part. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** For each `:name` of the path. */
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly body?: Content;
  /** By their status. Those that any operation may have (`COMMON_ANSWERS`) are not among them. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** @default the operator */
  readonly roles?: readonly Role[];
  /** Where it is answered; at the other door the answer is 501. @default both */
  readonly doors?: readonly Door[];
  /** One door does not answer this operation: the reason, and where to look instead. The 501 says this sentence. */
  readonly elsewhere?: string;
  /** `tenant`: of the one that `Apus-Tenant` names. `broker`: of all of them, and the header does not count. */
  readonly scope: 'tenant' | 'broker';
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

import { API_PATH } from './open-api.ts';
import type { Answer, Operation } from './operation.ts';
import { OPERATION_IDS, OPERATIONS } from './operations/index.ts';
import type { Schema } from './schema.ts';
import { SCHEMAS } from './schemas/index.ts';

const INTRODUCTION = `# The HTTP API, operation by operation

This page is for somebody who writes a program against \`${API_PATH}\`. It is made of the same table as the OpenAPI 3.1 document that a node answers at \`${API_PATH}/openapi.json\` and \`apus api\` prints: \`apus api --markdown\` prints this page. [operate.md](../operate.md#what-it-is-doing) says how a node lets callers in.

An operation of a *tenant* speaks of the tenant that the header \`Apus-Tenant\` names, or of \`default\`; one of the *broker* speaks of all of them, one of the *credential* of the caller’s own. A deployment with \`--http-api\` answers the same paths over HTTPS ([deploy-settings.md](../deploy-settings.md#operating-over-https)), and the operator's function of every deployment by an invocation ([runbook.md](../runbook.md#somebody-abuses-the-broker)), but for publishing, bridges, rules, the breaker, \`/metrics\`, \`/prometheus/stats\` and \`/asyncapi.json\`. An operation that is marked *Node* or *Deployment* is answered there alone: the other one says 501, and the sentence behind the mark. Backends find publishing, streams and rooms at another URL, that of \`--http-publish\` ([deploy-settings.md](../deploy-settings.md#publishing-from-a-backend)). A list is read a page at a time: \`after\` is \`meta.next\` of the page before, at both; \`page\` counts pages at a node, and a deployment counts none.

In a path, \`/\` of a name is \`%2F\`. A URL cannot have the name \`.\` or \`..\` as a part of its path: leave the part empty, and give the name in the query, as \`DELETE ${API_PATH}/clients/?clientid=..\`. A parameter that is given twice is 400.

Every operation may be answered with 400, 401, 403, 429, 500 and 503 as well, a path that is not here with 404, another method with 405: all of them have a [Problem](#problem). A message that is not taken has a [PublishFailure](#publishfailure), or in a list its place among the answers.`;

/** The API as a page of the documentation. */
export function apiPage(): string {
  const tags = [...new Set(Object.values(OPERATIONS).map(({ tag }) => tag))];
  const schemas = Object.entries(SCHEMAS).filter(([, { properties }]) => properties !== undefined);
  return `${[
    INTRODUCTION,
    ...tags.map(sectionOf),
    '## Fields',
    'A field with `?` may be absent.',
    ...schemas.map(([name, schema]) => fieldsOf(name, schema)),
  ].join('\n\n')}\n`;
}

function sectionOf(tag: string): string {
  const rows = OPERATION_IDS.map((id) => OPERATIONS[id]).filter((operation) => operation.tag === tag);
  return [
    `## ${tag}`,
    ['| operation | of the | what it does |', '|---|---|---|', ...rows.map(rowOf)].join('\n'),
  ].join('\n\n');
}

function rowOf(operation: Operation): string {
  const { method, path, scope, summary, description, query, body, answers, doors, elsewhere } = operation;
  const statuses = Object.entries(answers);
  const isError = ([status]: [string, unknown]) => status >= '400';
  const errors = statuses.filter(isError).map(([status]) => status);
  const parts = [
    summary,
    ...(description === undefined ? [] : [description]),
    ...(query === undefined ? [] : [`Query: ${Object.keys(query).map(code).join(', ')}.`]),
    ...(body === undefined ? [] : [`Body: ${typeOf(body.schema)}.`]),
    ...statuses.filter((each) => !isError(each)).map(([status, each]) => answerOf(status, each)),
    ...(errors.length === 0 ? [] : [`Or ${errors.join(', ')}.`]),
    ...(elsewhere === undefined
      ? []
      : [`*${doors?.includes('node') ? 'Node' : 'Deployment'}.* ${elsewhere}`]),
  ];
  return `| ${code(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)} | ${scope} | ${parts.join(' ')} |`;
}

function answerOf(status: string, { content }: Answer): string {
  return content === undefined ? `${status}.` : `${status}: ${typeOf(content.schema)}.`;
}

function fieldsOf(name: string, schema: Schema): string {
  const {
    description,
    properties,
    required = [],
  } = schema as {
    readonly description?: string;
    readonly properties: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
  const rows = Object.entries(properties).map(([field, of]) => {
    const mark = required.includes(field) ? '' : '?';
    return `| ${code(field + mark)} | ${typeOf(of)} | ${(of.description as string | undefined) ?? ''} |`;
  });
  const table = ['| field | type | |', '|---|---|---|', ...rows].join('\n');
  return [`### ${name}`, ...(description === undefined ? [] : [description]), table].join('\n\n');
}

/** The type of a value, in a few words. */
function typeOf(schema: Schema): string {
  const { $ref, type, enum: values, items, oneOf, format, contentEncoding } = schema;
  if (typeof $ref === 'string') return linkTo($ref.slice($ref.lastIndexOf('/') + 1));
  if (Array.isArray(oneOf)) return oneOf.map(typeOf).join(' or ');
  if (Array.isArray(values)) return values.map((value) => code(String(value))).join(', ');
  if (items !== undefined) return `list of ${typeOf(items as Schema)}${isNullable(type) ? ' or null' : ''}`;
  const name = [type].flat().join(' or ');
  if (format === 'date-time') return name.replace('string', 'time');
  return contentEncoding === undefined ? name : name.replace('string', 'base64');
}

function isNullable(type: unknown): boolean {
  return Array.isArray(type) && type.includes('null');
}

function linkTo(name: string): string {
  return SCHEMAS[name]?.properties === undefined
    ? typeOf(SCHEMAS[name] ?? {})
    : `[${name}](#${name.toLowerCase()})`;
}

function code(text: string): string {
  return `\`${text}\``;
}

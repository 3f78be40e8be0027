import manifest from '../package.json' with { type: 'json' };
import { type Answer, answer, type Content, type Door, type Operation, type Parameter } from './operation.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from './operations/index.ts';
import { ref, type Schema, text } from './schema.ts';
import { SCHEMAS } from './schemas/index.ts';

/** The base path of the API. The API has the shape of EMQX's, so that EMQX's clients and scripts fit. */
export const API_PATH = '/api/v5';

/** Answers that any operation may give, by their names in the document. */
const COMMON_ANSWERS = {
  400: ['BadRequest', 'The request cannot be read, or asks for what cannot be.'],
  401: ['Unauthorized', 'The request shows no key, or a wrong one.'],
  403: ['Forbidden', 'This caller may not ask this here.'],
  429: [
    'TooManyRequests',
    'A deployment bounds the requests of a caller: Retry-After says when to come again.',
  ],
  500: ['InternalError', 'This should not have happened: the log of the broker says more.'],
  503: ['Unavailable', 'A deployment cannot answer now: Retry-After says when to come again.'],
} as const;

/** Answers to paths and methods that the API does not have. */
const OTHER_ANSWERS = {
  404: ['NotFound', 'There is no such path.'],
  405: ['MethodNotAllowed', 'The path takes other methods: Allow says which.'],
} as const;

const DOORS: readonly Door[] = ['node', 'deployment'];

const TENANT_HEADER = 'Apus-Tenant';

/** The OpenAPI 3.1 document of the HTTP API. */
export function openApiDocument(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const id of OPERATION_IDS) {
    const { method, path } = OPERATIONS[id];
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: operationOf(id, OPERATIONS[id]) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'The HTTP API of Apus',
      version: manifest.version,
      description: 'It has the shape of EMQX’s API, so that its clients and scripts fit.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: API_PATH }],
    security: [{ bearer: [] }, { basic: [] }],
    tags: [...new Set(Object.values(OPERATIONS).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The key of the API.' },
        basic: { type: 'http', scheme: 'basic', description: 'The key as password, with any user name.' },
        token: { type: 'http', scheme: 'bearer', description: 'A token with which a client may connect.' },
      },
      parameters: {
        Tenant: {
          in: 'header',
          name: TENANT_HEADER,
          description: 'The tenant whose clients and messages are meant. By default the tenant `default`.',
          schema: text(undefined, { pattern: '^[A-Za-z0-9._-]{1,64}$' }),
        },
      },
      responses: Object.fromEntries(
        [...Object.values(COMMON_ANSWERS), ...Object.values(OTHER_ANSWERS)].map(([name, description]) => [
          name,
          responseOf({ description, content: { schema: ref('Problem') } }),
        ]),
      ),
      schemas: SCHEMAS,
    },
  };
}

function operationOf(id: OperationId, operation: Operation): object {
  const { tag, summary, description, parameters = {}, query = {}, body, roles = ['operator'] } = operation;
  const { scope, answers, doors = DOORS, elsewhere } = operation;
  const common = Object.entries(COMMON_ANSWERS).map(
    ([status, [name]]) => [status, { $ref: `#/components/responses/${name}` }] as const,
  );
  const everywhere =
    elsewhere === undefined ? answers : { 501: answer(elsewhere, ref('Problem')), ...answers };
  const own = Object.entries(everywhere).map(([status, each]) => [status, responseOf(each)] as const);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(roles.includes('client') && { security: [{ bearer: [] }, { basic: [] }, { token: [] }] }),
    parameters: [
      ...Object.entries(parameters).map((one) => parameterOf('path', one)),
      ...Object.entries(query).map((one) => parameterOf('query', one)),
      ...(scope === 'tenant' ? [{ $ref: '#/components/parameters/Tenant' }] : []),
    ],
    ...(body !== undefined && { requestBody: { required: true, content: contentOf(body) } }),
    responses: Object.fromEntries([...common, ...own]),
    'x-apus-doors': doors,
    'x-apus-roles': roles,
    'x-apus-scope': scope,
  };
}

function parameterOf(
  place: 'path' | 'query',
  [name, { description, schema, doors }]: [string, Parameter],
): object {
  const required = place === 'path' && { required: true };
  return { in: place, name, description, ...required, schema, ...(doors && { 'x-apus-doors': doors }) };
}

function responseOf({ description, content }: Answer): object {
  return { description, ...(content !== undefined && { content: contentOf(content) }) };
}

function contentOf({
  schema,
  type = 'application/json',
}: Content): Readonly<Record<string, { schema: Schema }>> {
  return { [type]: { schema } };
}

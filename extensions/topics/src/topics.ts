import { validateTopicFilter } from '@apus/mqtt';
import { EXAMPLES_MAX, TEXT_LENGTH_MAX, TOPICS_MAX } from './limits.ts';
import { inlined, isObject, type Schema } from './schema.ts';

/** The owner's description of a topic: for developers of programs, and for the check of payloads. */
export interface TopicDescription {
  /** The topic with parameters, such as `sensors/{sensor}/temperature`. */
  readonly topic: string;
  /** The topic with `+` for each parameter. */
  readonly topicFilter: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly parameters: Readonly<Record<string, ParameterDescription>>;
  readonly contentType: string;
  /** JSON Schema, draft 7, with its references resolved. */
  readonly payload: Schema | undefined;
  readonly examples: readonly unknown[];
  /** A description of the programs that may publish. Undefined: only the owner's. */
  readonly publish: string | undefined;
  readonly subscribe: string | undefined;
  /** Whether a payload that does not fit the schema is refused. */
  readonly checkPayload: boolean;
  /** Whether developers of a tenant see the tenant's newest payload that passed the check. */
  readonly sampled: boolean;
  /** The tenants; undefined: all. */
  readonly tenants: readonly string[] | undefined;
}

export interface ParameterDescription {
  readonly description?: string | undefined;
  readonly examples?: readonly string[] | undefined;
  readonly enum?: readonly string[] | undefined;
}

/** A server as programs reach it, in place of the addresses that the node listens at. */
export interface ServerDescription {
  readonly name: string;
  readonly url: string;
  readonly door: 'node' | 'gateway';
  /** Clients need no token at this server. */
  readonly isOpen?: boolean;
}

/** The content of a topics file. */
export interface Topics {
  readonly title: string;
  readonly version: string;
  readonly description: string | undefined;
  /** A description of how a developer gets a token. */
  readonly token: string | undefined;
  readonly servers: readonly ServerDescription[];
  readonly topics: readonly TopicDescription[];
}

/** The content of a topics file before the check: `readTopics` reports what is wrong in it. */
export interface GivenTopics {
  readonly topics: readonly object[];
  readonly [field: string]: unknown;
}

const FILE_FIELDS = ['title', 'version', 'description', 'token', 'servers', 'topics'];
const TOPIC_FIELDS = [
  ...['topic', 'title', 'description', 'parameters', 'contentType', 'payload', 'examples', 'publish'],
  ...['subscribe', 'checkPayload', 'sampled', 'tenants'],
];
const PARAMETER = /^\{([A-Za-z0-9_-]{1,64})\}$/;
const JSON_TYPE = 'application/json';
const TENANT = /^[A-Za-z0-9._-]{1,64}$/;

/** @throws {Error} with a sentence that says what is wrong */
export function readTopics(given: unknown): Topics {
  const file = fieldsOf(given, 'the file', FILE_FIELDS);
  const list = file.topics;
  if (!Array.isArray(list) || list.length > TOPICS_MAX)
    throw new Error(`topics is a list of at most ${TOPICS_MAX}.`);
  const topics = list.map((each, index) => readTopic(each, `topics[${index}]`));
  const twice = topics.find(({ topicFilter }, index) =>
    topics.slice(0, index).some((other) => other.topicFilter === topicFilter),
  );
  if (twice !== undefined) throw new Error(`topics describes ${twice.topic} twice.`);
  return {
    title: textOf(file, 'title', 'the file') ?? 'Topics',
    version: textOf(file, 'version', 'the file') ?? '1.0.0',
    description: textOf(file, 'description', 'the file'),
    token: textOf(file, 'token', 'the file'),
    servers: readServers(file.servers),
    topics,
  };
}

function readTopic(given: unknown, where: string): TopicDescription {
  const fields = fieldsOf(given, where, TOPIC_FIELDS);
  const topic = textOf(fields, 'topic', where) ?? '';
  const names = parameterNames(topic, where);
  const payload = fields.payload === undefined ? undefined : schemaOf(fields.payload, where);
  const contentType = textOf(fields, 'contentType', where) ?? JSON_TYPE;
  const checkPayload = flagOf(fields, 'checkPayload', where);
  const sampled = flagOf(fields, 'sampled', where);
  if (checkPayload && (payload === undefined || contentType !== JSON_TYPE))
    throw new Error(`${where}: checkPayload needs a schema (payload), and payloads that are JSON.`);
  if (sampled && !checkPayload)
    throw new Error(`${where}: sampled needs checkPayload: only payloads that pass are shown.`);
  return {
    topic,
    topicFilter: topic
      .split('/')
      .map((level) => (PARAMETER.test(level) ? '+' : level))
      .join('/'),
    title: textOf(fields, 'title', where) ?? topic,
    description: textOf(fields, 'description', where),
    parameters: readParameters(fields.parameters, names, where),
    contentType,
    payload,
    examples: readExamples(fields.examples, where),
    publish: textOf(fields, 'publish', where),
    subscribe: textOf(fields, 'subscribe', where),
    checkPayload,
    sampled,
    tenants: readTenants(fields.tenants, where),
  };
}

function parameterNames(topic: string, where: string): readonly string[] {
  const filter = topic
    .split('/')
    .map((level) => (PARAMETER.test(level) ? '+' : level))
    .join('/');
  const invalid = validateTopicFilter(filter);
  if (invalid !== undefined) throw new Error(`${where}: topic: ${invalid.reason}.`);
  if (/[+#]/.test(topic) || topic.startsWith('$'))
    throw new Error(`${where}: topic has parameters, as sensors/{sensor}, no wildcards and no "$" in front.`);
  const names = topic.split('/').flatMap((level) => PARAMETER.exec(level)?.[1] ?? []);
  if (/[{}]/.test(topic.replaceAll(/\{[A-Za-z0-9_-]{1,64}\}/g, '')) || braces(topic) !== names.length)
    throw new Error(`${where}: a parameter is a whole level of letters, digits, "_" and "-": {sensor}.`);
  if (new Set(names).size < names.length) throw new Error(`${where}: topic has a parameter twice.`);
  return names;
}

function braces(topic: string): number {
  return topic.split('{').length - 1;
}

function readParameters(
  given: unknown,
  names: readonly string[],
  where: string,
): TopicDescription['parameters'] {
  const described = given === undefined ? {} : fieldsOf(given, `${where}.parameters`, names);
  return Object.fromEntries(
    names.map((name) => [
      name,
      Object.hasOwn(described, name) ? readParameter(described[name], `${where}.parameters.${name}`) : {},
    ]),
  );
}

function readParameter(given: unknown, where: string): ParameterDescription {
  const fields = fieldsOf(given, where, ['description', 'examples', 'enum']);
  return {
    description: textOf(fields, 'description', where),
    examples: textsOf(fields, 'examples', where),
    enum: textsOf(fields, 'enum', where),
  };
}

function readServers(given: unknown): readonly ServerDescription[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > TOPICS_MAX) throw new Error('servers is a list.');
  return given.map((each, index) => {
    const where = `servers[${index}]`;
    const fields = fieldsOf(each, where, ['name', 'url', 'door']);
    const [name, url] = [textOf(fields, 'name', where) ?? '', textOf(fields, 'url', where) ?? ''];
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
      throw new Error(`${where}: name has 1 to 64 letters, digits, "_" and "-".`);
    if (!/^wss?:\/\//.test(url) || !URL.canParse(url))
      throw new Error(`${where}: url begins with wss:// or ws://.`);
    if (fields.door !== 'node' && fields.door !== 'gateway')
      throw new Error(`${where}: door is "node" or "gateway".`);
    return { name, url, door: fields.door };
  });
}

function readExamples(given: unknown, where: string): readonly unknown[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > EXAMPLES_MAX)
    throw new Error(`${where}: examples is a list of at most ${EXAMPLES_MAX}.`);
  return given;
}

function readTenants(given: unknown, where: string): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const isList = Array.isArray(given) && given.every((each) => typeof each === 'string' && TENANT.test(each));
  if (!isList) throw new Error(`${where}: tenants is a list of names of tenants.`);
  return given;
}

function schemaOf(given: unknown, where: string): Schema {
  try {
    return inlined(given);
  } catch (error) {
    throw new Error(`${where}: payload: ${(error as Error).message}.`, { cause: error });
  }
}

function fieldsOf(given: unknown, where: string, known: readonly string[]): Schema {
  if (!isObject(given)) throw new Error(`${where} is an object.`);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return given;
  throw new Error(`${where} has no field "${unknown}": there are ${known.join(', ') || 'none'}.`);
}

function textOf(fields: Schema, name: string, where: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length > 0 && value.length <= TEXT_LENGTH_MAX) return value;
  throw new Error(`${where}: ${name} is a text of 1 to ${TEXT_LENGTH_MAX} characters.`);
}

function textsOf(fields: Schema, name: string, where: string): readonly string[] | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string'))
    return value;
  throw new Error(`${where}: ${name} is a list of texts.`);
}

function flagOf(fields: Schema, name: string, where: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new Error(`${where}: ${name} is true or false.`);
}

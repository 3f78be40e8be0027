import { HEADER_BYTES } from '../measure/index.ts';
import { Fields } from './fields.ts';
import type { Goals, Group, Publish, Qos, Scenario, Subscribe } from './scenario.ts';

/** Upper bounds of a scenario: far above every published case, and below a typing error. */
const CLIENTS_MAX = 10_000_000;
const TOPICS_MAX = 100_000;
const SECONDS_MAX = 86_400;
const PER_SECOND_MAX = 1_000_000;
const PAYLOAD_BYTES_MAX = 262_144;
const FILTERS_MAX = 1_000;
const WINDOW_MAX = 500;
const CONNECT_WINDOW_MAX = 10_000;

const QOS: readonly Qos[] = [0, 1, 2];

/**
 * Checks a scenario that was read from a file.
 *
 * @throws {ScenarioError} whose message names the wrong field and its allowed values
 */
export function readScenario(json: unknown): Scenario {
  const fields = new Fields(json, 'scenario');
  const scenario: Scenario = {
    name: fields.text('name'),
    title: fields.text('title'),
    source: fields.text('source', ''),
    basic: fields.flag('basic', false),
    generator: fields.oneOf('generator', ['artillery', 'fast'], 'fast'),
    mqttVersion: fields.oneOf('mqttVersion', ['3.1.1', '5'], '5'),
    keepAliveSeconds: fields.whole('keepAliveSeconds', 0, 65_535, 300),
    cleanStart: fields.flag('cleanStart', true),
    sessionExpirySeconds: fields.whole('sessionExpirySeconds', 0, 0xffff_ffff, 0),
    connectsPerSecond: fields.number('connectsPerSecond', 0.1, PER_SECOND_MAX, 100),
    connectWindow:
      fields.given('connectWindow') === undefined
        ? undefined
        : fields.whole('connectWindow', 1, CONNECT_WINDOW_MAX),
    durationSeconds: fields.number('durationSeconds', 1, SECONDS_MAX),
    shortSeconds: fields.number('shortSeconds', 1, SECONDS_MAX, 10),
    groups: fields.list('groups').map((group, index) => readGroup(group, `groups[${index}]`)),
    goals: readGoals(fields.given('goals')),
    published: fields.optionalText('published'),
    fullSize: fields.text('fullSize', ''),
  };
  fields.nothingElse();
  checkGroups(scenario, fields);
  return scenario;
}

function readGroup(json: unknown, path: string): Group {
  const fields = new Fields(json, path);
  const group: Group = {
    name: fields.text('name'),
    clients: fields.whole('clients', 1, CLIENTS_MAX),
    scales: fields.flag('scales', true),
    subscribe: readSubscribe(fields.given('subscribe'), `${path}.subscribe`),
    publish: readPublish(fields.given('publish'), `${path}.publish`),
  };
  fields.nothingElse();
  return group;
}

function readSubscribe(json: unknown, path: string): Subscribe | undefined {
  if (json === undefined) return undefined;
  const fields = new Fields(json, path);
  const filters = fields.texts('filters', FILTERS_MAX);
  const subscribe = { filters, qos: fields.oneOf('qos', QOS, 0) };
  fields.nothingElse();
  const shared = filters.filter((filter) => filter.startsWith('$share/')).length;
  // The messages of several filters could not be told apart.
  if (shared > 0 && filters.length > 1) fields.fail('filters', 'a shared subscription stands alone');
  return subscribe;
}

function readPublish(json: unknown, path: string): Publish | undefined {
  if (json === undefined) return undefined;
  const fields = new Fields(json, path);
  const isLoop = fields.given('window') !== undefined;
  const publish: Publish = {
    topic: fields.text('topic'),
    topics: fields.whole('topics', 1, TOPICS_MAX, 1),
    qos: fields.oneOf('qos', QOS, 0),
    payloadBytes: fields.whole('payloadBytes', HEADER_BYTES, PAYLOAD_BYTES_MAX, HEADER_BYTES),
    perSecond: isLoop ? fields.oneOf('perSecond', [1], 1) : fields.number('perSecond', 0.001, PER_SECOND_MAX),
    window: isLoop ? fields.whole('window', 1, WINDOW_MAX) : undefined,
  };
  fields.nothingElse();
  if (isLoop && publish.topics > 1) fields.fail('window', 'a client with a window has one topic');
  if (publish.topics > 1 && !publish.topic.includes('{stream}'))
    fields.fail('topic', 'several topics of a client are told apart by {stream}');
  return publish;
}

function readGoals(json: unknown): Goals {
  if (json === undefined) return {};
  const fields = new Fields(json, 'goals');
  const [p95Ms, p99Ms, lost] = ['p95Ms', 'p99Ms', 'lost'].map((name) => fields.optionalNumber(name, 0, 1e9));
  fields.nothingElse();
  return {
    ...(p95Ms !== undefined && { p95Ms }),
    ...(p99Ms !== undefined && { p99Ms }),
    ...(lost !== undefined && { lost }),
  };
}

function checkGroups({ groups }: Scenario, fields: Fields): void {
  if (groups.length === 0) fields.fail('groups', 'a scenario needs a group of clients');
  checkLoops(groups, fields);
  const names = new Set(groups.map(({ name }) => name));
  if (names.size < groups.length) fields.fail('groups', 'each group has a name of its own');
  const texts = groups.flatMap(({ subscribe, publish }) => [
    ...(subscribe?.filters ?? []),
    publish?.topic ?? '',
  ]);
  for (const text of texts) {
    for (const [, group] of text.matchAll(/\{random ([^}]*)\}/g)) {
      if (group === undefined || !names.has(group)) fields.fail('groups', `{random ${group}} names no group`);
    }
  }
}

/** A message has to come back, and the deliveries of a closed loop cannot be computed if other groups have a pace. */
function checkLoops(groups: readonly Group[], fields: Fields): void {
  const publishing = groups.filter(({ publish }) => publish !== undefined);
  const loops = publishing.filter(({ publish }) => publish?.window !== undefined);
  if (loops.length === 0) return;
  if (loops.length < publishing.length)
    fields.fail('groups', 'either all that publish have a window, or none');
  for (const { name, subscribe, publish } of loops) {
    if (!subscribe?.filters.includes(publish?.topic ?? ''))
      fields.fail(
        'groups',
        `clients of "${name}" have a window, so they subscribe to the topic they publish on`,
      );
  }
}

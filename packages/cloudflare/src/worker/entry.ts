import type { Log } from '@apus/broker';
import { apiKeySources } from '@apus/identity';
import { chainContext, openAccess } from '../access.ts';
import { awakeScheduler } from '../alarm-clock.ts';
import { consoleLog } from '../console-log.ts';
import { HubObject } from '../hub-object.ts';
import type { ObjectState } from '../platform.ts';
import { readConfiguration, type WorkerConfiguration, type WorkerTexts } from './configuration.ts';
import { Front, type HubStub } from './front.ts';
import { answerPage } from './page.ts';

/** The objects of the class `Hub`, as the Worker reaches them. */
interface Hubs {
  idFromName(name: string): unknown;
  get(id: unknown, options?: { locationHint: string }): HubStub;
  jurisdiction(name: string): Hubs;
}

interface Environment extends WorkerTexts {
  readonly HUB: Hubs;
  /** The files of the page. Absent: there is no page. */
  readonly ASSETS?: HubStub;
}

/** Read once for all hubs of an isolate: the environment of each is the same. */
let configured: WorkerConfiguration | undefined;

function configurationIn(environment: Environment): WorkerConfiguration {
  configured ??= readConfiguration(environment);
  return configured;
}

/** Made with the first request: nothing may be read before. */
let opened: { readonly configuration: WorkerConfiguration; readonly front: Front } | undefined;

function frontFor(environment: Environment, log: Log): typeof opened & object {
  if (opened !== undefined) return opened;
  const configuration = configurationIn(environment);
  const { hub, identity } = configuration;
  const { handshakes } = openAccess(hub, awakeScheduler, log);
  const context = chainContext(hub.files ?? {}, awakeScheduler, log);
  const keys = identity === undefined ? [] : apiKeySources(identity, context);
  opened = {
    configuration,
    front: new Front({ configuration, handshakes, keys, log, clock: awakeScheduler }),
  };
  return opened;
}

/** A jurisdiction binds the data of hubs to a place; a hint says near which they are created. */
function hubOf(hubs: Hubs, location: string | undefined, tenant: string): HubStub {
  const isJurisdiction = location === 'eu' || location === 'fedramp';
  const within = isJurisdiction ? hubs.jurisdiction(location) : hubs;
  const id = within.idFromName(tenant);
  return location === undefined || isJurisdiction
    ? within.get(id)
    : within.get(id, { locationHint: location });
}

/** Says nothing of the configuration to strangers: the log does. */
function openedFor(environment: Environment): (typeof opened & object) | Response {
  try {
    return frontFor(environment, consoleLog);
  } catch (error) {
    consoleLog.error('configuration-refused', { error: String(error) });
    return new Response('This broker is not configured yet.\n', { status: 503 });
  }
}

/** The broker of one tenant. */
export class Hub extends HubObject {
  constructor(state: ObjectState, environment: Environment) {
    super(state, () => configurationIn(environment).hub);
  }
}

// biome-ignore lint/style/noDefaultExport: the runtime asks for it
export default {
  async fetch(
    request: Request,
    environment: Environment,
    context: { waitUntil(work: Promise<unknown>): void },
  ): Promise<Response> {
    const opened = openedFor(environment);
    if (opened instanceof Response) return opened;
    const { configuration, front } = opened;
    const answer = await front.answer(request, {
      hubOf: (tenant) => hubOf(environment.HUB, configuration.location, tenant),
      waitUntil: (work) => context.waitUntil(work),
    });
    return answer ?? (await answerPage(request, environment.ASSETS));
  },
};

import type { Broker, PublishRequest } from '@apus/broker';
import type { PublishEndpointOptions } from './endpoint.ts';

/** Publishes by the one broker of all clients, one message after another. */
export function publishHere(
  broker: Pick<Broker, 'publish' | 'messageClock'>,
  published: (request: PublishRequest) => void = () => {},
): PublishEndpointOptions['publish'] {
  return async (requests) => {
    const outcomes = [];
    for (const request of requests) {
      outcomes.push(await broker.publish(request));
      published(request);
    }
    // The clock of the one process is later than any that it has given.
    return { outcomes, clock: broker.messageClock.read() };
  };
}

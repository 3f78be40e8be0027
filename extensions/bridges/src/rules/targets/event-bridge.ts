import type { Message } from '@apus/broker';
import { installed } from '@apus/door';
import type { EventBridgeConfiguration } from '../configuration/aws.ts';
import type { Target } from '../target.ts';
import { CALL_BYTES_MAX, calling, clientOptions, ENTRIES_MAX, partialFailure } from './aws.ts';
import { messageJson } from './message-json.ts';

/** Error codes of EventBridge for overload and internal failures. */
const LATER = /^(ThrottlingException|InternalFailure|InternalException|ServiceUnavailable)/;

/** Sends to an EventBridge bus. The detail of an event is the message. */
export async function openEventBridge(configuration: EventBridgeConfiguration): Promise<Target> {
  const { EventBridgeClient, PutEventsCommand } = await installed(import('@aws-sdk/client-eventbridge'));
  const client = new EventBridgeClient(clientOptions(configuration));
  const { bus, source, detailType } = configuration;
  const entryOf = (message: Message) => ({
    EventBusName: bus,
    Source: source,
    DetailType: detailType,
    Detail: JSON.stringify(messageJson(message)),
  });
  return {
    type: 'eventBridge',
    remote: bus,
    batch: { messagesMax: ENTRIES_MAX, bytesMax: CALL_BYTES_MAX / 2, isPartial: true },
    send: (batch) =>
      calling(batch, async () => {
        const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: batch.map(entryOf) }));
        const refused = Entries.flatMap(({ ErrorCode, ErrorMessage = '' }, index) =>
          ErrorCode === undefined
            ? []
            : [{ index, error: `${ErrorCode}: ${ErrorMessage}`, isPermanent: !LATER.test(ErrorCode) }],
        );
        return partialFailure(batch, refused);
      }),
    stop: async () => client.destroy(),
  };
}

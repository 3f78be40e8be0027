import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  ApiGatewayManagementApiClient,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { formatPush } from '../../src/frames/text-frame.ts';
import type { Endpoints } from './gateway.ts';
import { encodeMessage, messagesOf } from './messages.ts';
import type { Scheme, Way } from './ways.ts';

const SOCKETS_MAX = 50;
const BATCH_WRITE_MAX = 25;

/**
 * The obvious first attempt: the SDK's client with its defaults, and all posts of a message at once, one message after
 * another. It gets the connections as an argument: the time to find them is not counted.
 */
export function makeObvious(endpoints: Endpoints, scheme: Scheme): Way {
  const client = managementClient(endpoints, scheme);
  return {
    deliver: async (load) => {
      for (const message of messagesOf(load)) {
        await postToAll(client, formatPush(encodeMessage(message)), endpoints.connectionIds);
      }
    },
    postsEach: ({ messages }) => messages,
    close: () => client.destroy(),
  };
}

/** The same as the handler of a queue, which has to find the connections too: a Query of the SDK's for each message. */
export async function makeObviousWorker(endpoints: Endpoints, scheme: Scheme): Promise<Way> {
  const client = managementClient(endpoints, scheme);
  const table = await fillTable(endpoints, `obvious-${scheme}`);
  return {
    deliver: async (load) => {
      for (const message of messagesOf(load)) {
        await postToAll(client, formatPush(encodeMessage(message)), await table.connectionIds());
      }
    },
    postsEach: ({ messages }) => messages,
    close: () => {
      client.destroy();
      table.close();
    },
  };
}

function managementClient(
  { region, credentials, ca, ...endpoints }: Endpoints,
  scheme: Scheme,
): ApiGatewayManagementApiClient {
  const agent =
    scheme === 'https'
      ? { httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: SOCKETS_MAX, ca }) }
      : {};
  return new ApiGatewayManagementApiClient({
    endpoint: endpoints[scheme],
    region,
    credentials: {
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken !== undefined && { sessionToken: credentials.sessionToken }),
    },
    requestHandler: {
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: SOCKETS_MAX }),
      // No warning: the bench measures how all posts wait for fifty sockets.
      socketAcquisitionWarningTimeout: 600_000,
      ...agent,
    },
  });
}

async function postToAll(
  client: ApiGatewayManagementApiClient,
  text: string,
  connectionIds: readonly string[],
): Promise<void> {
  await Promise.all(
    connectionIds.map((id) => client.send(new PostToConnectionCommand({ ConnectionId: id, Data: text }))),
  );
}

/** Connections in a table, under the name of what they have subscribed to. */
async function fillTable({ dynamoDb, region, connectionIds }: Endpoints, tableName: string) {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = new DynamoDBClient({ endpoint: dynamoDb, region, credentials });
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'topic', AttributeType: 'S' },
        { AttributeName: 'connectionId', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'topic', KeyType: 'HASH' },
        { AttributeName: 'connectionId', KeyType: 'RANGE' },
      ],
    }),
  );
  for (let start = 0; start < connectionIds.length; start += BATCH_WRITE_MAX) {
    const puts = connectionIds.slice(start, start + BATCH_WRITE_MAX).map((connectionId) => ({
      PutRequest: { Item: { topic: { S: 'bench' }, connectionId: { S: connectionId } } },
    }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: puts } }));
  }
  const query = new QueryCommand({
    TableName: tableName,
    KeyConditionExpression: 'topic = :topic',
    ExpressionAttributeValues: { ':topic': { S: 'bench' } },
  });
  return {
    /** At most what one page holds, 1 MB: enough for some ten thousand. */
    connectionIds: async () => {
      const { Items = [], LastEvaluatedKey } = await client.send(query);
      if (LastEvaluatedKey !== undefined) throw new Error('there are more connections than a page holds');
      return Items.map(({ connectionId }) => connectionId?.S ?? '');
    },
    close: () => client.destroy(),
  };
}

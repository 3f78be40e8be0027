import { invalidValue, validationError } from '../errors.ts';
import { Parameters } from '../parameters.ts';
import { type KeyAttribute, type KeySchema, keyAttributesOf } from '../storage/key-schema.ts';
import type { Table } from '../storage/table.ts';
import type { Operation } from './common.ts';

/** Only on demand, without indexes and streams. The table is ACTIVE at once. */
export const createTable: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(['TableName', 'AttributeDefinitions', 'KeySchema', 'BillingMode']);
  const tableName = parameters.tableName();
  if (parameters.oneOf('BillingMode', ['PROVISIONED', 'PAY_PER_REQUEST']) === 'PROVISIONED') {
    throw validationError('The emulator knows tables of BillingMode PAY_PER_REQUEST only');
  }
  const table = call.newTable(tableName, readSchema(parameters));
  call.tables.add(table);
  return { TableDescription: describe(table) };
};

export const describeTable: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(['TableName']);
  return { Table: describe(call.tables.get(parameters.tableName())) };
};

export const updateTimeToLive: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(['TableName', 'TimeToLiveSpecification']);
  const specification = new Parameters(parameters.requiredMap('TimeToLiveSpecification'));
  const name = specification.text('AttributeName') ?? '';
  const isEnabled = specification.boolean('Enabled');
  const { timeToLive } = call.tables.get(parameters.tableName());
  if (isEnabled === (timeToLive.attributeName !== undefined)) {
    throw validationError(`TimeToLive is already ${isEnabled ? 'enabled' : 'disabled'}`);
  }
  timeToLive.attributeName = isEnabled ? name : undefined;
  return { TimeToLiveSpecification: { AttributeName: name, Enabled: isEnabled } };
};

export const describeTimeToLive: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond(['TableName']);
  const { attributeName } = call.tables.get(parameters.tableName()).timeToLive;
  return {
    TimeToLiveDescription: {
      TimeToLiveStatus: attributeName === undefined ? 'DISABLED' : 'ENABLED',
      ...(attributeName !== undefined && { AttributeName: attributeName }),
    },
  };
};

function readSchema(parameters: Parameters): KeySchema {
  const types = new Map(
    parameters.list('AttributeDefinitions').map((definition) => {
      const attribute = new Parameters(definition);
      return [attribute.text('AttributeName') ?? '', attribute.oneOf('AttributeType', ['S', 'N', 'B'])];
    }),
  );
  const elements = parameters.list('KeySchema').map((element) => {
    const key = new Parameters(element);
    const name = key.text('AttributeName') ?? '';
    return { name, role: key.oneOf('KeyType', ['HASH', 'RANGE']), type: types.get(name) };
  });
  const attributeOf = (index: number, role: string): KeyAttribute | undefined => {
    const element = elements[index];
    if (element === undefined) return undefined;
    if (element.role !== role) throw wrongSchema(role);
    if (element.type !== undefined) return { name: element.name, type: element.type };
    throw invalidValue(
      `Some index key attributes are not defined in AttributeDefinitions. Keys: [${element.name}], AttributeDefinitions: [${[...types.keys()].join(', ')}]`,
    );
  };
  const partition = attributeOf(0, 'HASH');
  if (partition === undefined || elements.length > 2) throw wrongSchema('HASH');
  if (types.size > elements.length) {
    throw invalidValue(
      'Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions',
    );
  }
  return { partition, sort: attributeOf(1, 'RANGE') };
}

function wrongSchema(role: string) {
  return validationError(
    `Invalid KeySchema: The ${role === 'HASH' ? 'first' : 'second'} KeySchemaElement is not a ${role} key type`,
  );
}

function describe(table: Table): object {
  const attributes = keyAttributesOf(table.schema);
  return {
    TableName: table.name,
    TableStatus: 'ACTIVE',
    CreationDateTime: table.createdAtMs / 1_000,
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    AttributeDefinitions: attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
    KeySchema: attributes.map(({ name }, index) => ({
      AttributeName: name,
      KeyType: index === 0 ? 'HASH' : 'RANGE',
    })),
    ItemCount: table.itemCount(),
  };
}

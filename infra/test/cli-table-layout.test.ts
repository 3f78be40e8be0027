import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { requireLayout } from '../cli/table-layout.ts';

/** DynamoDB with these tables, each with the layouts of its items. */
function dynamoDb(tables: Readonly<Record<string, readonly (string | undefined)[]>>) {
  const send = async ({
    input,
  }: {
    readonly input: { readonly TableName: string; readonly Limit: number };
  }) => {
    const layouts = tables[input.TableName];
    if (layouts === undefined) throw new ResourceNotFoundException({ message: '', $metadata: {} });
    return {
      Items: layouts
        .slice(0, input.Limit)
        .map((layout) => (layout === undefined ? {} : { v: { N: layout } })),
    };
  };
  return { send } as never;
}

describe('the tables that a deployment goes on with', () => {
  it('may be empty, missing, or of this layout', async () => {
    const client = dynamoDb({ M: ['2', '2'], S: [] });
    await expect(requireLayout(client, ['M', 'S', 'gone'])).resolves.toBeUndefined();
  });

  it.each([
    ['1', 'layout 1'],
    ['3', 'layout 3'],
    [undefined, 'layout unknown'],
  ])('stop the deployment if an item has layout %s', async (layout, said) => {
    await expect(requireLayout(dynamoDb({ M: [], S: ['2', layout] }), ['M', 'S'])).rejects.toThrow(
      `The table S has items of ${said}, and this version of Apus reads layout 2. Nothing has been changed. Deploy this version as a new stack (--name), or go back to the version that wrote the table.`,
    );
  });
});

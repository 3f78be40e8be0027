import { DataList } from '@mantine/core';

/** A row; omitted without a value. */
export function Fact({ label, value }: { readonly label: string; readonly value: string | undefined }) {
  if (value === undefined || value === '') return null;
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere' }}>{value}</DataList.ItemValue>
    </DataList.Item>
  );
}

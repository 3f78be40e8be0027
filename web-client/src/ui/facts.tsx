import { DataList } from '@mantine/core';
import { visibleText } from './visible-text.ts';

export type Fact = readonly [label: string, value: string | undefined];

interface FactsProps {
  readonly facts: readonly Fact[];
  readonly labelWidth?: string;
}

/** Rows; one without a value is left out. */
export function Facts({ facts, labelWidth = '150px' }: FactsProps) {
  return (
    <DataList size="xs" gap={4} labelWidth={labelWidth}>
      {facts.map(
        ([label, value], index) =>
          value !== undefined &&
          value !== '' && (
            // A user property may come twice, and rows do not move.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <DataList.Item key={index}>
              <DataList.ItemLabel>{visibleText(label)}</DataList.ItemLabel>
              <DataList.ItemValue style={{ overflowWrap: 'anywhere' }}>
                {visibleText(value)}
              </DataList.ItemValue>
            </DataList.Item>
          ),
      )}
    </DataList>
  );
}

import { Alert, Button, FileButton, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { type DragEvent, useState } from 'react';
import { filterProblem } from '../../subscriptions/filter-problem.ts';
import classes from './decoders-dialog.module.css';
import { useDecoders } from './registry.ts';
import { addRule } from './rule-archive.ts';
import { RULES_MAX, type SchemaFile } from './rules.ts';
import { checkSchema, readSchemaFiles } from './schema-files.ts';

/** The dropped file, and its contents or the error in it. */
interface Schema {
  readonly files: readonly SchemaFile[];
  readonly messageTypes: readonly string[];
  readonly problem: string;
}

const NO_SCHEMA: Schema = { files: [], messageTypes: [], problem: '' };

export function AddDecoder({ topic, isFirst }: { readonly topic: string; readonly isFirst: boolean }) {
  const [filter, setFilter] = useState(isFirst ? topic : '');
  const [schema, setSchema] = useState(NO_SCHEMA);
  const [messageType, setMessageType] = useState('');
  const isFull = useDecoders(({ rules }) => rules.length >= RULES_MAX);
  const wrongFilter = filter === '' ? undefined : filterProblem(filter);
  const isReady =
    filter !== '' && wrongFilter === undefined && !isFull && schema.problem === '' && messageType !== '';
  const take = async (dropped: readonly File[]): Promise<void> => {
    const read = await readSchemaFiles(dropped, schema.files);
    const checked =
      'tooLarge' in read
        ? { ...NO_SCHEMA, problem: `${read.tooLarge} is larger than a schema may be.` }
        : { files: read.files, ...(await checkSchema(read.files)) };
    setSchema(checked);
    setMessageType(checked.messageTypes[0] ?? '');
  };
  const add = (): void => {
    void addRule({ filter, schemas: schema.files, messageType });
    setFilter('');
    setSchema(NO_SCHEMA);
    setMessageType('');
  };
  return (
    <Stack gap="xs">
      <TextInput
        label="Topic filter"
        value={filter}
        error={wrongFilter}
        onChange={(event) => setFilter(event.currentTarget.value)}
      />
      <SchemaDrop files={schema.files} onFiles={(files) => void take(files)} />
      {schema.problem !== '' && (
        <Alert color="red" variant="light" p="xs">
          {schema.problem}
        </Alert>
      )}
      {schema.messageTypes.length > 0 && (
        <Select
          label="Message"
          allowDeselect={false}
          searchable
          data={schema.messageTypes.map((value) => ({ value, label: value }))}
          value={messageType}
          onChange={(value) => setMessageType(value ?? '')}
        />
      )}
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {isFull && `There are ${RULES_MAX} decoders already: remove one first.`}
        </Text>
        <Button disabled={!isReady} onClick={add}>
          Add the decoder
        </Button>
      </Group>
    </Stack>
  );
}

interface SchemaDropProps {
  readonly files: readonly SchemaFile[];
  readonly onFiles: (files: readonly File[]) => void;
}

function SchemaDrop({ files, onFiles }: SchemaDropProps) {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  const dropped = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    onFiles([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no set of form fields
    <div
      role="group"
      aria-label="Schema"
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      <Text size="xs" flex={1}>
        {files.length === 0
          ? 'Drop .proto files here, with all that they import, or choose them.'
          : files.map(({ name }) => name).join(', ')}
      </Text>
      <FileButton multiple accept=".proto" onChange={onFiles} inputProps={{ 'aria-label': 'Schema files' }}>
        {(props) => (
          <Button variant="default" {...props}>
            Choose files
          </Button>
        )}
      </FileButton>
    </div>
  );
}

import { SCHEMA_CHARACTERS_MAX, SCHEMA_FILES_MAX, type SchemaFile } from './rules.ts';

/** The dropped files together with earlier ones of other names; or the name of the one that is too large. */
export async function readSchemaFiles(
  dropped: readonly File[],
  before: readonly SchemaFile[],
): Promise<{ readonly files: readonly SchemaFile[] } | { readonly tooLarge: string }> {
  const large = dropped.find(({ size }) => size > SCHEMA_CHARACTERS_MAX);
  if (large !== undefined) return { tooLarge: large.name };
  const added = await Promise.all(
    dropped.map(async (file) => ({ name: file.name, text: await file.text() })),
  );
  const kept = before.filter(({ name }) => !added.some((file) => file.name === name));
  return { files: [...kept, ...added].slice(-SCHEMA_FILES_MAX) };
}

/** The contents of a schema, or the fault in it. */
export async function checkSchema(
  files: readonly SchemaFile[],
): Promise<{ readonly messageTypes: readonly string[]; readonly problem: string }> {
  try {
    const { readProtobufSchema } = await import('./protobuf.ts');
    const { messageTypes } = readProtobufSchema(files);
    return { messageTypes, problem: messageTypes.length === 0 ? 'There is no message in it.' : '' };
  } catch (error) {
    return { messageTypes: [], problem: (error as Error).message };
  }
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, type ILayerVersion, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/** Lambda's NODE_PATH contains this folder of a layer. */
const MODULES_FOLDER = 'nodejs/node_modules';

export interface ModuleLayerProps {
  readonly description: string;
  /** The module as functions require it. */
  readonly module: string;
  /** The name of the module's file. */
  readonly main: string;
  /** The text of each file, by its name. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A layer with a module generated from the owner's configuration. It is separate from the functions' code, which comes
 * with a package; a change affects the layer alone.
 */
export function createModuleLayer(scope: Construct, id: string, props: ModuleLayerProps): ILayerVersion {
  const { description, module, main, files } = props;
  const folder = mkdtempSync(join(tmpdir(), `${module}-`));
  const place = join(folder, MODULES_FOLDER, module);
  try {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name: module, main }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
    return new LayerVersion(scope, id, {
      code: Code.fromAsset(folder),
      description,
      compatibleRuntimes: [Runtime.NODEJS_24_X],
    });
  } finally {
    // The CDK has copied the folder.
    rmSync(folder, { recursive: true });
  }
}

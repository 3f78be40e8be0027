import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, type ILayerVersion, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/** Lambda has this folder of a layer in NODE_PATH. */
const MODULES_FOLDER = 'nodejs/node_modules';

export interface ModuleLayerProps {
  readonly description: string;
  /** The module as functions require it. */
  readonly module: string;
  /** The file among them that is the module. */
  readonly main: string;
  /** The text of each file, by its name. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A module in a layer with the code and data that an owner has written for functions. It is apart from their code, which a package brings
 * with it; and a change of it changes the layer alone.
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
    // The CDK has copied it.
    rmSync(folder, { recursive: true });
  }
}

// Builds the program that asks kstatus and health checks in Lua into the cache, from test/tools/gitops-health.
import { goTool } from '../lib/go/go-tool.mjs';

await goTool('gitops-health');

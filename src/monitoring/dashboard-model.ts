// Generated from scripts/dashboard/ by npm run generate. jsii compiles no JSON modules, so each is a text.

/** Returns a dashboard as Grafana imports it. */
export const dashboardModel = (of: DashboardName): DashboardModel => JSON.parse(texts[of]);

export type DashboardName = keyof typeof texts;

interface DashboardModel {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

const texts = {
  cluster: `{
 "timezone": "browser",
 "editable": true,
 "graphTooltip": 0,
 "fiscalYearStartMonth": 0,
 "schemaVersion": 42,
 "templating": {
  "list": [
   {
    "type": "datasource",
    "name": "datasource",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Prometheus",
    "query": "prometheus"
   },
   {
    "type": "query",
    "name": "namespace",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Namespace",
    "datasource": {
     "type": "prometheus",
     "uid": "$datasource"
    },
    "query": "label_values(etcd_server_has_leader, namespace)",
    "refresh": 2
   },
   {
    "type": "query",
    "name": "etcd_cluster",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Cluster",
    "datasource": {
     "type": "prometheus",
     "uid": "$datasource"
    },
    "query": "label_values(etcd_server_has_leader{namespace=\\"$namespace\\"}, etcd_cluster)",
    "refresh": 2
   }
  ]
 },
 "annotations": {},
 "title": "etcd",
 "uid": "cdk8s-etcd",
 "description": "An EtcdCluster: its state, members, disks, clients and backups.",
 "tags": [
  "etcd",
  "cdk8s-etcd"
 ],
 "time": {
  "from": "now-6h",
  "to": "now"
 },
 "refresh": "30s",
 "panels": [
  {
   "type": "row",
   "collapsed": false,
   "id": 0,
   "panels": [],
   "title": "State",
   "gridPos": {
    "x": 0,
    "y": 0,
    "h": 1,
    "w": 24
   }
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Quorum",
   "description": "Whether a quorum of members answers, from the condition QuorumLost of the EtcdCluster.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 4,
    "x": 0,
    "y": 1
   },
   "fieldConfig": {
    "defaults": {
     "thresholds": {
      "mode": "absolute",
      "steps": [
       {
        "value": null,
        "color": "red"
       },
       {
        "value": 1,
        "color": "green"
       }
      ]
     },
     "mappings": [
      {
       "type": "value",
       "options": {
        "0": {
         "text": "lost or unknown"
        },
        "1": {
         "text": "yes"
        }
       }
      }
     ]
    },
    "overrides": []
   },
   "targets": [
    {
     "expr": "sum(etcd_cluster_condition{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", condition=\\"QuorumLost\\", status=\\"False\\"}) or vector(0)",
     "refId": "A",
     "legendFormat": ""
    }
   ]
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "name",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Phase",
   "description": "The phase of the EtcdCluster and the reason for it, which the runbook explains.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 8,
    "x": 4,
    "y": 1
   },
   "targets": [
    {
     "expr": "etcd_cluster_phase{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{phase}}: {{reason}}"
    }
   ]
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Ready voters",
   "description": "Voting members that answer and have a ready pod.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 4,
    "x": 12,
    "y": 1
   },
   "targets": [
    {
     "expr": "etcd_cluster_ready_voters{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": ""
    }
   ]
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Newest verified backup",
   "description": "Time since the newest backup was taken that was read back and compared.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 4,
    "x": 16,
    "y": 1
   },
   "fieldConfig": {
    "defaults": {
     "unit": "s",
     "thresholds": {
      "mode": "absolute",
      "steps": [
       {
        "value": null,
        "color": "green"
       },
       {
        "value": 86400,
        "color": "orange"
       },
       {
        "value": 172800,
        "color": "red"
       }
      ]
     }
    },
    "overrides": []
   },
   "targets": [
    {
     "expr": "time() - etcd_cluster_last_backup_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": ""
    }
   ]
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "First certificate expires in",
   "description": "The certificate of a member that expires first.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 4,
    "x": 20,
    "y": 1
   },
   "fieldConfig": {
    "defaults": {
     "unit": "s",
     "thresholds": {
      "mode": "absolute",
      "steps": [
       {
        "value": null,
        "color": "red"
       },
       {
        "value": 1209600,
        "color": "green"
       }
      ]
     }
    },
    "overrides": []
   },
   "targets": [
    {
     "expr": "min(etcd_agent_certificate_expiry_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}) - time()",
     "refId": "A",
     "legendFormat": ""
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Conditions that are not as they should be",
   "description": "Conditions with their reason, over time. Nothing here is good.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 16,
    "x": 0,
    "y": 5
   },
   "targets": [
    {
     "expr": "etcd_cluster_condition{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", condition=~\\"Degraded|QuorumLost|Stalled|Alarm\\", status!=\\"False\\"} or etcd_cluster_condition{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", condition=~\\"Available|BackupHealthy|CertificatesReady|AuthReady|VersionSafe|TransportReady|Accepted\\", status!=\\"True\\"}",
     "refId": "A",
     "legendFormat": "{{condition}} {{status}}: {{reason}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Operation in flight",
   "description": "How long the present operation of the reconciler has been in flight.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 5
   },
   "targets": [
    {
     "expr": "time() - etcd_cluster_operation_start_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{operation}}"
    }
   ]
  },
  {
   "type": "row",
   "collapsed": false,
   "id": 0,
   "panels": [],
   "title": "Members",
   "gridPos": {
    "x": 0,
    "y": 12,
    "h": 1,
    "w": 24
   }
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Leader",
   "description": "Which member leads. A change is an election, in which writes wait for about a second.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 13
   },
   "targets": [
    {
     "expr": "etcd_server_is_leader{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Leader changes in 15 minutes",
   "description": "Changes of the leader that a member has seen. More than a few mean a slow disk, a CPU limit or a bad network.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 13
   },
   "targets": [
    {
     "expr": "increase(etcd_server_leader_changes_seen_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[15m])",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Members with a leader",
   "description": "Members that know a leader. Fewer than a majority: reads and writes stop.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 13
   },
   "targets": [
    {
     "expr": "sum(etcd_server_has_leader{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"})",
     "refId": "A",
     "legendFormat": "members"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "ops"
    },
    "overrides": []
   },
   "title": "Applied raft entries per second",
   "description": "Writes that a member has applied.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 20
   },
   "targets": [
    {
     "expr": "rate(etcd_server_proposals_applied_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[$__rate_interval])",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Pending proposals",
   "description": "Writes that wait to be committed. Many mean that the members do not keep up.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 20
   },
   "targets": [
    {
     "expr": "etcd_server_proposals_pending{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "ops"
    },
    "overrides": []
   },
   "title": "Failed proposals per second",
   "description": "Writes that failed, for example in an election.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 20
   },
   "targets": [
    {
     "expr": "rate(etcd_server_proposals_failed_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[$__rate_interval])",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "row",
   "collapsed": false,
   "id": 0,
   "panels": [],
   "title": "Disk and size",
   "gridPos": {
    "x": 0,
    "y": 27,
    "h": 1,
    "w": 24
   }
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Log: 99 % of fsyncs take less than",
   "description": "Time to write the raft log to the disk. etcd recommends less than 10 ms.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 28
   },
   "targets": [
    {
     "expr": "histogram_quantile(0.99, sum by (pod, le) (rate(etcd_disk_wal_fsync_duration_seconds_bucket{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[$__rate_interval])))",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Database: 99 % of commits take less than",
   "description": "Time to write the database to the disk. etcd recommends less than 25 ms.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 28
   },
   "targets": [
    {
     "expr": "histogram_quantile(0.99, sum by (pod, le) (rate(etcd_disk_backend_commit_duration_seconds_bucket{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[$__rate_interval])))",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "bytes"
    },
    "overrides": []
   },
   "title": "Database and quota",
   "description": "Size of the database, what of it is in use, and the quota at which etcd refuses writes.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 28
   },
   "targets": [
    {
     "expr": "etcd_mvcc_db_total_size_in_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    },
    {
     "expr": "etcd_mvcc_db_total_size_in_use_in_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "B",
     "legendFormat": "{{pod}} in use"
    },
    {
     "expr": "min(etcd_server_quota_backend_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"})",
     "refId": "C",
     "legendFormat": "quota"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "percentunit"
    },
    "overrides": []
   },
   "title": "Free space of the volumes",
   "description": "Share of the volume that is free. etcd stops when its volume is full.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 35
   },
   "targets": [
    {
     "expr": "etcd_agent_volume_free_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"} / etcd_agent_volume_size_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Keys",
   "description": "Number of keys.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 35
   },
   "targets": [
    {
     "expr": "etcd_debugging_mvcc_keys_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Raft entries behind the leader",
   "description": "How far each member is behind. A small distance is shown as 0.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 35
   },
   "targets": [
    {
     "expr": "etcd_cluster_member_lag_entries{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "row",
   "collapsed": false,
   "id": 0,
   "panels": [],
   "title": "Clients and peers",
   "gridPos": {
    "x": 0,
    "y": 42,
    "h": 1,
    "w": 24
   }
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "reqps"
    },
    "overrides": []
   },
   "title": "Requests per second",
   "description": "Requests of clients that a member has answered, by method.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 43
   },
   "targets": [
    {
     "expr": "sum by (grpc_method) (rate(grpc_server_handled_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", grpc_type=\\"unary\\"}[$__rate_interval])) > 0",
     "refId": "A",
     "legendFormat": "{{grpc_method}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "reqps"
    },
    "overrides": []
   },
   "title": "Failed requests per second",
   "description": "Requests that ended with an error of the server, by method and code. Nothing here is good.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 43
   },
   "targets": [
    {
     "expr": "sum by (grpc_method, grpc_code) (rate(grpc_server_handled_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", grpc_code=~\\"Unavailable|DeadlineExceeded|ResourceExhausted|Internal|Unknown|DataLoss\\"}[$__rate_interval])) > 0",
     "refId": "A",
     "legendFormat": "{{grpc_method}}: {{grpc_code}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Watchers",
   "description": "Number of watches.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 43
   },
   "targets": [
    {
     "expr": "etcd_debugging_mvcc_watcher_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "Bps"
    },
    "overrides": []
   },
   "title": "Sent to clients per second",
   "description": "Bytes that a member has sent to clients.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 50
   },
   "targets": [
    {
     "expr": "rate(etcd_network_client_grpc_sent_bytes_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[$__rate_interval])",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Between members: 99 % of round trips take less than",
   "description": "Round trips between members. They decide how long a write takes, together with the disks.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 50
   },
   "targets": [
    {
     "expr": "histogram_quantile(0.99, sum by (pod, le) (rate(etcd_network_peer_round_trip_time_seconds_bucket{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[$__rate_interval])))",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "bytes"
    },
    "overrides": []
   },
   "title": "Memory",
   "description": "Resident memory of etcd, of the agent beside it and of the reconciler.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 50
   },
   "targets": [
    {
     "expr": "process_resident_memory_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{pod}} {{endpoint}}"
    }
   ]
  },
  {
   "type": "row",
   "collapsed": false,
   "id": 0,
   "panels": [],
   "title": "Backups and reconciler",
   "gridPos": {
    "x": 0,
    "y": 57,
    "h": 1,
    "w": 24
   }
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Age of the newest verified backup",
   "description": "What would be lost if every volume were lost now.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 58
   },
   "targets": [
    {
     "expr": "time() - etcd_cluster_last_backup_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "age"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Revisions since the newest verified backup",
   "description": "How many revisions would be lost if every volume were lost now.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 58
   },
   "targets": [
    {
     "expr": "max by (namespace, etcd_cluster) (etcd_debugging_mvcc_current_revision{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}) - max by (namespace, etcd_cluster) (etcd_cluster_last_backup_revision{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"})",
     "refId": "A",
     "legendFormat": "revisions"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "bytes"
    },
    "overrides": []
   },
   "title": "Size of the newest snapshot",
   "description": "Size of the newest snapshot of each schedule.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 58
   },
   "targets": [
    {
     "expr": "etcd_cluster_backup_size_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{schedule}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Failed schedules",
   "description": "1 while the newest run of a schedule has failed.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 65
   },
   "targets": [
    {
     "expr": "etcd_cluster_backup_run_failed{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "{{schedule}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Actions of the reconciler",
   "description": "What the reconciler has done, by action.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 65
   },
   "targets": [
    {
     "expr": "increase(etcd_reconciler_actions_done_total{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}[5m]) > 0",
     "refId": "A",
     "legendFormat": "{{action}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Time since the last pass of the reconciler",
   "description": "The reconciler looks at the cluster several times a minute.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 65
   },
   "targets": [
    {
     "expr": "time() - etcd_reconciler_last_pass_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}",
     "refId": "A",
     "legendFormat": "age"
    }
   ]
  }
 ]
}`,
  backup: `{
 "timezone": "browser",
 "editable": true,
 "graphTooltip": 0,
 "fiscalYearStartMonth": 0,
 "schemaVersion": 42,
 "templating": {
  "list": [
   {
    "type": "datasource",
    "name": "datasource",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Prometheus",
    "query": "prometheus"
   },
   {
    "type": "query",
    "name": "namespace",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Namespace",
    "datasource": {
     "type": "prometheus",
     "uid": "$datasource"
    },
    "query": "label_values(etcd_backup_store_up, namespace)",
    "refresh": 2
   },
   {
    "type": "query",
    "name": "etcd_cluster",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Cluster",
    "datasource": {
     "type": "prometheus",
     "uid": "$datasource"
    },
    "query": "label_values(etcd_backup_store_up{namespace=\\"$namespace\\"}, etcd_cluster)",
    "refresh": 2
   },
   {
    "type": "query",
    "name": "cronjob",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "CronJob",
    "datasource": {
     "type": "prometheus",
     "uid": "$datasource"
    },
    "query": "label_values(etcd_backup_store_up{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\"}, cronjob)",
    "refresh": 2
   }
  ]
 },
 "annotations": {},
 "title": "etcd backups",
 "uid": "cdk8s-etcd-backup",
 "description": "The backups of an etcd that has no reconciler.",
 "tags": [
  "etcd",
  "cdk8s-etcd"
 ],
 "time": {
  "from": "now-6h",
  "to": "now"
 },
 "refresh": "30s",
 "panels": [
  {
   "type": "row",
   "collapsed": false,
   "id": 0,
   "panels": [],
   "title": "Backups",
   "gridPos": {
    "x": 0,
    "y": 0,
    "h": 1,
    "w": 24
   }
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Stores that can be read",
   "description": "Whether the last read of the store worked. What the other panels show is what the last read that worked found.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 12,
    "x": 0,
    "y": 1
   },
   "fieldConfig": {
    "defaults": {
     "thresholds": {
      "mode": "absolute",
      "steps": [
       {
        "value": null,
        "color": "red"
       },
       {
        "value": 1,
        "color": "green"
       }
      ]
     },
     "mappings": [
      {
       "type": "value",
       "options": {
        "0": {
         "text": "no"
        },
        "1": {
         "text": "yes"
        }
       }
      }
     ]
    },
    "overrides": []
   },
   "targets": [
    {
     "expr": "etcd_backup_store_up{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"}",
     "refId": "A",
     "legendFormat": "{{store}}"
    }
   ]
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Newest verified backup",
   "description": "Time since the newest backup was taken that was read back and compared. No value: there is none.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 12,
    "x": 12,
    "y": 1
   },
   "fieldConfig": {
    "defaults": {
     "unit": "s"
    },
    "overrides": []
   },
   "targets": [
    {
     "expr": "time() - (etcd_backup_last_verified_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"} > 0)",
     "refId": "A",
     "legendFormat": "{{store}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Age of the newest verified backup",
   "description": "What would be lost if every member were lost now.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 5
   },
   "targets": [
    {
     "expr": "time() - (etcd_backup_last_verified_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"} > 0)",
     "refId": "A",
     "legendFormat": "{{store}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "bytes"
    },
    "overrides": []
   },
   "title": "Size of the newest snapshot",
   "description": "Size of the newest verified snapshot: the database, and what the store holds of it.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 5
   },
   "targets": [
    {
     "expr": "etcd_backup_last_snapshot_size_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"}",
     "refId": "A",
     "legendFormat": "{{store}}"
    },
    {
     "expr": "etcd_backup_last_snapshot_stored_bytes{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"}",
     "refId": "B",
     "legendFormat": "{{store}} stored"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Duration of the newest backup",
   "description": "How long it took to take and store the newest verified snapshot.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 5
   },
   "targets": [
    {
     "expr": "etcd_backup_last_snapshot_duration_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"}",
     "refId": "A",
     "legendFormat": "{{store}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Snapshots",
   "description": "Number of snapshots in the store, verified or not.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 12
   },
   "targets": [
    {
     "expr": "etcd_backup_snapshots{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"}",
     "refId": "A",
     "legendFormat": "{{store}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Revision of the newest verified backup",
   "description": "It rises with each backup, unless nothing is written to etcd.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 12
   },
   "targets": [
    {
     "expr": "etcd_backup_last_verified_revision{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"}",
     "refId": "A",
     "legendFormat": "{{store}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "s"
    },
    "overrides": []
   },
   "title": "Time since the last read of the store",
   "description": "The exporter reads each store every five minutes.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 12
   },
   "targets": [
    {
     "expr": "time() - etcd_backup_store_last_read_timestamp_seconds{namespace=\\"$namespace\\", etcd_cluster=\\"$etcd_cluster\\", cronjob=\\"$cronjob\\"}",
     "refId": "A",
     "legendFormat": "{{store}}"
    }
   ]
  }
 ]
}`,
  reconciler: `{
 "timezone": "browser",
 "editable": true,
 "graphTooltip": 0,
 "fiscalYearStartMonth": 0,
 "schemaVersion": 42,
 "templating": {
  "list": [
   {
    "type": "datasource",
    "name": "datasource",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Prometheus",
    "query": "prometheus"
   },
   {
    "type": "query",
    "name": "namespace",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Namespace",
    "datasource": {
     "type": "prometheus",
     "uid": "$datasource"
    },
    "query": "label_values(etcd_reconciler_leader, namespace)",
    "refresh": 2
   },
   {
    "type": "query",
    "name": "reconciler",
    "skipUrlSync": false,
    "multi": false,
    "allowCustomValue": true,
    "includeAll": false,
    "auto": false,
    "auto_min": "10s",
    "auto_count": 30,
    "label": "Reconciler",
    "datasource": {
     "type": "prometheus",
     "uid": "$datasource"
    },
    "query": "label_values(etcd_reconciler_leader{namespace=\\"$namespace\\"}, reconciler)",
    "refresh": 2
   }
  ]
 },
 "annotations": {},
 "title": "etcd reconciler",
 "uid": "cdk8s-etcd-reconciler",
 "description": "The reconciler of the EtcdClusters of a namespace.",
 "tags": [
  "etcd",
  "cdk8s-etcd"
 ],
 "time": {
  "from": "now-6h",
  "to": "now"
 },
 "refresh": "30s",
 "panels": [
  {
   "type": "row",
   "collapsed": false,
   "id": 0,
   "panels": [],
   "title": "Reconciler",
   "gridPos": {
    "x": 0,
    "y": 0,
    "h": 1,
    "w": 24
   }
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Active",
   "description": "Whether a pod holds the Lease. Only that pod acts.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 6,
    "x": 0,
    "y": 1
   },
   "fieldConfig": {
    "defaults": {
     "thresholds": {
      "mode": "absolute",
      "steps": [
       {
        "value": null,
        "color": "red"
       },
       {
        "value": 1,
        "color": "green"
       }
      ]
     },
     "mappings": [
      {
       "type": "value",
       "options": {
        "0": {
         "text": "no"
        },
        "1": {
         "text": "yes"
        }
       }
      }
     ]
    },
    "overrides": []
   },
   "targets": [
    {
     "expr": "max(etcd_reconciler_leader{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"}) or vector(0)",
     "refId": "A",
     "legendFormat": ""
    }
   ]
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "auto",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Pods",
   "description": "Pods that Prometheus reaches.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 6,
    "x": 6,
    "y": 1
   },
   "targets": [
    {
     "expr": "count(etcd_reconciler_leader{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"}) or vector(0)",
     "refId": "A",
     "legendFormat": ""
    }
   ]
  },
  {
   "type": "stat",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "graphMode": "none",
    "colorMode": "value",
    "justifyMode": "auto",
    "textMode": "name",
    "wideLayout": true,
    "showPercentChange": false,
    "reduceOptions": {
     "calcs": []
    },
    "percentChangeColorMode": "standard",
    "orientation": "auto"
   },
   "title": "Kinds that cannot be watched",
   "description": "Kinds of objects whose changes the reconciler does not see now. Its log says why.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 4,
    "w": 12,
    "x": 12,
    "y": 1
   },
   "targets": [
    {
     "expr": "sum by (resource) (etcd_reconciler_synced{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"} == bool 0) > 0",
     "refId": "A",
     "legendFormat": "{{resource}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Leader",
   "description": "Which pod holds the Lease.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 5
   },
   "targets": [
    {
     "expr": "etcd_reconciler_leader{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Backups",
   "description": "EtcdBackups by phase.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 5
   },
   "targets": [
    {
     "expr": "sum by (phase) (etcd_reconciler_backups{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"})",
     "refId": "A",
     "legendFormat": "{{phase}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "Full lists in an hour",
   "description": "How often a kind was listed anew. A watch that breaks again and again shows here.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 16,
    "y": 5
   },
   "targets": [
    {
     "expr": "sum by (resource) (increase(etcd_reconciler_lists_total{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"}[1h]))",
     "refId": "A",
     "legendFormat": "{{resource}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {},
     "unit": "bytes"
    },
    "overrides": []
   },
   "title": "Memory",
   "description": "Resident memory.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 0,
    "y": 12
   },
   "targets": [
    {
     "expr": "process_resident_memory_bytes{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"}",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  },
  {
   "type": "timeseries",
   "transparent": false,
   "repeatDirection": "h",
   "options": {
    "legend": {
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false,
     "calcs": []
    },
    "tooltip": {
     "mode": "single",
     "sort": "asc"
    }
   },
   "fieldConfig": {
    "defaults": {
     "custom": {}
    },
    "overrides": []
   },
   "title": "CPU",
   "description": "CPU seconds per second.",
   "datasource": {
    "type": "prometheus",
    "uid": "$datasource"
   },
   "gridPos": {
    "h": 7,
    "w": 8,
    "x": 8,
    "y": 12
   },
   "targets": [
    {
     "expr": "rate(process_cpu_seconds_total{namespace=\\"$namespace\\", reconciler=\\"$reconciler\\"}[$__rate_interval])",
     "refId": "A",
     "legendFormat": "{{pod}}"
    }
   ]
  }
 ]
}`,
};

// A cluster with the reconciler's certificates, hourly backups and monitoring: ../typescript/main.ts in Go.
package main

import (
	"github.com/aws/jsii-runtime-go"
	etcd "github.com/cdk8s-etcd/cdk8s-etcd-go/cdk8setcd"
	"github.com/cdk8s-team/cdk8s-core-go/cdk8s/v2"
)

func main() {
	app := cdk8s.NewApp(nil)
	etcd.NewEtcdCrds(cdk8s.NewChart(app, jsii.String("crds"), nil), jsii.String("crds"), nil)

	chart := cdk8s.NewChart(app, jsii.String("orders"), &cdk8s.ChartProps{Namespace: jsii.String("shop")})
	cluster := etcd.NewEtcdCluster(chart, jsii.String("orders"), &etcd.EtcdClusterProps{
		Size: jsii.Number(3),
		Volume: &etcd.EtcdVolume{
			Size:         cdk8s.Size_Gibibytes(jsii.Number(20)),
			StorageClass: jsii.String("fast-ssd"),
		},
		Tls: etcd.EtcdTls_Managed(&etcd.ManagedTlsProps{ServerNames: jsii.Strings("etcd.shop.example.com")}),
	})
	cluster.AddBackupSchedule(jsii.String("hourly"), &etcd.BackupScheduleOptions{
		Schedule: cdk8s.Cron_Schedule(&cdk8s.CronOptions{Minute: jsii.String("17")}),
		Store: etcd.BackupStore_S3(&etcd.S3StoreProps{
			Bucket:      jsii.String("example-etcd-backup"),
			Region:      jsii.String("eu-west-1"),
			Credentials: etcd.S3Credentials_FromSecret(jsii.String("etcd-backup-s3"), nil),
		}),
		Retention: etcd.Retention_Tiers(&etcd.RetentionTiers{
			Hourly: jsii.Number(24),
			Daily:  jsii.Number(7),
			Weekly: jsii.Number(4),
		}),
	})
	cluster.AddMonitoring(&etcd.MonitoringOptions{
		Labels: &map[string]*string{"release": jsii.String("kube-prometheus-stack")},
	})

	app.Synth()
}

// A cluster with the reconciler's certificates, hourly backups and monitoring: ../typescript/main.ts in Java.
import io.github.cdk8setcd.BackupScheduleOptions;
import io.github.cdk8setcd.BackupStore;
import io.github.cdk8setcd.EtcdCluster;
import io.github.cdk8setcd.EtcdCrds;
import io.github.cdk8setcd.EtcdTls;
import io.github.cdk8setcd.EtcdVolume;
import io.github.cdk8setcd.ManagedTlsProps;
import io.github.cdk8setcd.MonitoringOptions;
import io.github.cdk8setcd.Retention;
import io.github.cdk8setcd.RetentionTiers;
import io.github.cdk8setcd.S3Credentials;
import io.github.cdk8setcd.S3StoreProps;
import java.util.List;
import java.util.Map;
import org.cdk8s.App;
import org.cdk8s.Chart;
import org.cdk8s.ChartProps;
import org.cdk8s.Cron;
import org.cdk8s.CronOptions;
import org.cdk8s.Size;

public class Main {
  public static void main(String[] args) {
    App app = new App();
    new EtcdCrds(new Chart(app, "crds"), "crds");

    Chart chart = new Chart(app, "orders", ChartProps.builder().namespace("shop").build());
    EtcdCluster etcd =
        EtcdCluster.Builder.create(chart, "orders")
            .size(3)
            .volume(EtcdVolume.builder().size(Size.gibibytes(20)).storageClass("fast-ssd").build())
            .tls(EtcdTls.managed(ManagedTlsProps.builder().serverNames(List.of("etcd.shop.example.com")).build()))
            .build();
    etcd.addBackupSchedule(
        "hourly",
        BackupScheduleOptions.builder()
            .schedule(Cron.schedule(CronOptions.builder().minute("17").build()))
            .store(
                BackupStore.s3(
                    S3StoreProps.builder()
                        .bucket("example-etcd-backup")
                        .region("eu-west-1")
                        .credentials(S3Credentials.fromSecret("etcd-backup-s3"))
                        .build()))
            .retention(Retention.tiers(RetentionTiers.builder().hourly(24).daily(7).weekly(4).build()))
            .build());
    etcd.addMonitoring(MonitoringOptions.builder().labels(Map.of("release", "kube-prometheus-stack")).build());

    app.synth();
  }
}
